"""The four tools as a model is given them, and the one place where its calls are carried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from agent.capture import CapturingTools
from agent.chat import ModelCall, ToolSpec
from agent.contract import Evidence
from agent.errors import CallBudgetSpentError
from knowledge.contracts import SectionPage
from knowledge.errors import KnowledgeLimitedError, ToolRefusedError
from knowledge.tools import TOOL_NAMES

_SECTIONS_SHOWN = 60


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class SearchArguments(_Arguments):
    """Search the documentation. Use other words than before; the question was searched already."""

    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
    source: str = Field(default="", description="Name of one source; empty searches all.")


class SourceArguments(_Arguments):
    """Read one passage again in full, with its neighbours' ids."""

    chunk_id: str = Field(min_length=1, description="Number of a received passage, or a chunk id.")


class SectionsArguments(_Arguments):
    """List the headings of the documentation, page by page."""

    source: str = Field(default="", description="Name of one source; empty lists all.")
    cursor: str = Field(default="", description="Where the page before ended.")


class RelatedArguments(_Arguments):
    """Fetch the passages nearest in meaning to a received one."""

    chunk_id: str = Field(min_length=1, description="Number of a received passage, or a chunk id.")


AnyArguments: TypeAlias = SearchArguments | SourceArguments | SectionsArguments | RelatedArguments
Arguments: TypeAlias = type[AnyArguments]

_ARGUMENTS: dict[str, Arguments] = dict(
    zip(
        TOOL_NAMES,
        (SearchArguments, SourceArguments, SectionsArguments, RelatedArguments),
        strict=True,
    )
)


def tool_specs() -> list[ToolSpec]:
    """Return the four tools in the chat completions format."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": (arguments.__doc__ or "").strip(),
                "parameters": _schema(arguments),
            },
        }
        for name, arguments in _ARGUMENTS.items()
    ]


class Toolbox:
    """Carries out a model's calls and says in text what came of them.

    Args:
        tools: Recorder bound to this ask.
        top_k: Passages per search; a model cannot ask for more.
        show: Turns passages new to the model into text, within the room that is left.
    """

    def __init__(
        self,
        tools: CapturingTools,
        top_k: int,
        show: Callable[[Sequence[Evidence]], Awaitable[str]],
    ) -> None:
        self._tools = tools
        self._top_k = top_k
        self._show = show

    async def run(self, call: ModelCall) -> str:
        """Carry out one call; what is wrong with it is said to the model, not raised.

        Raises:
            KnowledgeError: The evidence cannot be reached.
        """
        known = len(self._tools.evidence)
        arguments = _ARGUMENTS.get(call.name)
        try:
            if arguments is None:
                self._tools.reject(call.name, call.arguments, "unknown_tool")
                return f"Error: there is no tool {call.name!r}. Tools: {', '.join(TOOL_NAMES)}."
            return await self._carry_out(
                arguments.model_validate_json(call.arguments or "{}"), known
            )
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in problem["loc"]) or "arguments"
            return self._refused(call, "invalid_arguments", f"{place}: {problem['msg']}")
        except CallBudgetSpentError as error:
            return f"Error: {error}. Answer from what you have."
        except (ToolRefusedError, KnowledgeLimitedError) as error:
            return f"Error: {error}"

    def _refused(self, call: ModelCall, code: str, message: str) -> str:
        try:
            self._tools.reject(call.name, call.arguments, code)
        except CallBudgetSpentError as error:
            return f"Error: {error}. Answer from what you have."
        return f"Error: {message}"

    async def _carry_out(self, arguments: AnyArguments, known: int) -> str:
        match arguments:
            case SearchArguments():
                found = await self._tools.search_kb(arguments.query, self._top_k, arguments.source)
                return await self._passages([hit.chunk_id for hit in found.hits], known)
            case RelatedArguments():
                found = await self._tools.get_related(self._id(arguments.chunk_id), self._top_k)
                return await self._passages([hit.chunk_id for hit in found.hits], known)
            case SourceArguments():
                source = await self._tools.get_source(self._id(arguments.chunk_id))
                around = f"Before it: {source.previous_chunk_id}. After it: {source.next_chunk_id}."
                return f"{await self._passages([source.chunk_id], known)}\n{around}"
            case SectionsArguments():
                page = await self._tools.list_sections(arguments.source, arguments.cursor)
                return _sections(page)

    def _id(self, named: str) -> str:
        """Accept the number of a received passage in place of its id."""
        wanted = named.strip().strip("[]")
        for passage in self._tools.evidence:
            if wanted == str(passage.number):
                return passage.chunk_id
        return named.strip()

    async def _passages(self, chunk_ids: Sequence[str], known: int) -> str:
        if not chunk_ids:
            return "Nothing was found."
        numbers = [self._tools.number_of(chunk_id) for chunk_id in chunk_ids]
        fresh = [each for each in self._tools.evidence[known:] if each.number in numbers]
        again = ", ".join(f"[{number}]" for number in numbers if number <= known)
        shown = await self._show(fresh) if fresh else ""
        parts = [shown, f"You have already: {again}." if again else "", self._repeated(fresh)]
        return "\n\n".join(part for part in parts if part)

    def _repeated(self, fresh: Sequence[Evidence]) -> str:
        """Say which new passages brought nothing new, so that nobody searches for them again."""
        given = {each.number: each.text for each in self._tools.evidence}
        empty = ", ".join(f"[{each.number}]" for each in fresh if not given[each.number])
        return f"Nothing new, or no room: {empty}." if empty else ""


def _sections(page: SectionPage) -> str:
    lines = [
        f"{each.first_chunk_id}: "
        + " > ".join(
            part for part in (each.title, each.parent_heading, each.section_heading) if part
        )
        for each in page.sections[:_SECTIONS_SHOWN]
    ]
    more = f"\nNext cursor: {page.next_cursor}" if page.next_cursor else ""
    return "Headings, not evidence, each with its first chunk id:\n" + "\n".join(lines) + more


def _schema(arguments: Arguments) -> ToolSpec:
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    for each in schema["properties"].values():
        each.pop("title", None)
    return schema
