"""Transcripts: subtitles and speaker-labelled text, cut at speaker turns, times kept."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.decoding import decode
from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.builder import DocumentBuilder

_TIMES = re.compile(
    r"^(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
)
_TAG = re.compile(r"<(?!v\b)[^>]*>")
_VOICE = re.compile(r"^<v(?:\.[\w.]+)?\s+([^>]+)>(.*?)(?:</v>)?$", re.DOTALL)
_SPEAKER = re.compile(
    r"^(?:\[(?P<time>[\d:]+)\]\s*)?(?P<name>[A-Z][\w .'-]{0,40}):\s+(?P<words>\S.*)$"
)
_TURN_SECONDS = 60
_LEAST_TURNS = 3


@dataclass(frozen=True, slots=True)
class _Cue:
    start_seconds: float
    speaker: str
    words: str


class TranscriptParser:
    """Reads WebVTT and SubRip."""

    media_types = ("text/vtt", "application/x-subrip")

    def parse(self, content: RawContent) -> Parsed:
        """Return the transcript with a section per speaker turn.

        Raises:
            UnreadableError: No timed cue is in it.
        """
        cues = _cues(decode(content.data))
        if not cues:
            raise UnreadableError("no timed cue in it")
        builder = DocumentBuilder()
        held: list[_Cue] = []
        for cue in cues:
            if held and _begins_turn(held, cue):
                _add_turn(builder, held)
                held = []
            held.append(cue)
        _add_turn(builder, held)
        return builder.parsed(content)


class DialogueParser:
    """Reads text in which each line or paragraph begins with a speaker's name."""

    media_types = ("text/x-dialogue",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the dialogue with a section per turn."""
        builder = DocumentBuilder()
        for line in decode(content.data).split("\n"):
            match = _SPEAKER.match(line.strip())
            if match:
                seconds = _seconds(match["time"]) if match["time"] else None
                if seconds is not None:
                    builder.facts = {"start_seconds": seconds}
                    builder.anchor = f"t={seconds:g}"
                builder.heading(1, match["name"], is_shown=False)
            builder.text(line.strip())
        return builder.parsed(content)


def is_dialogue(text: str) -> bool:
    """Tell whether most lines of a text are turns of at least two speakers."""
    lines = [line.strip() for line in text[:20_000].split("\n") if line.strip()]
    turns = [match["name"] for line in lines if (match := _SPEAKER.match(line))]
    return (
        len(turns) >= max(_LEAST_TURNS, len(lines) // 2)
        and 1 < len(set(turns)) <= len(turns) // 2 + 1
    )


def _cues(text: str) -> list[_Cue]:
    cues: list[_Cue] = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        at = next((n for n, line in enumerate(lines) if _TIMES.match(line.strip())), None)
        if at is None:
            continue
        match = _TIMES.match(lines[at].strip())
        words = "\n".join(lines[at + 1 :]).strip()
        voice = _VOICE.match(words)
        spoken = _SPEAKER.match(words)
        speaker = voice[1] if voice else (spoken["name"] if spoken else "")
        plain = _TAG.sub("", voice[2] if voice else words).strip()
        if match and plain:
            hours, minutes, seconds = (int(match[n] or 0) for n in (1, 2, 3))
            cues.append(_Cue(hours * 3600 + minutes * 60 + seconds, speaker.strip(), plain))
    return cues


def _begins_turn(held: list[_Cue], cue: _Cue) -> bool:
    if cue.speaker and cue.speaker != held[-1].speaker:
        return True
    return not cue.speaker and cue.start_seconds - held[0].start_seconds > _TURN_SECONDS


def _add_turn(builder: DocumentBuilder, cues: list[_Cue]) -> None:
    start = cues[0].start_seconds
    builder.facts = {"start_seconds": start}
    builder.anchor = f"t={start:g}"
    clock = f"{int(start) // 3600:d}:{int(start) // 60 % 60:02d}:{int(start) % 60:02d}"
    builder.heading(1, f"{cues[0].speaker} {clock}".strip(), is_shown=False)
    builder.text("\n".join(cue.words for cue in cues))


def _seconds(clock: str) -> float:
    total = 0
    for part in clock.strip(":").split(":"):
        total = total * 60 + int(part or 0)
    return float(total)
