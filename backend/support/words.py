"""Closed word lists the support check reads: English of technical documentation.

Only closed classes are listed (function words, negations, opposites, number words, irregular
forms, common rephrasings of documentation verbs). Everything open is compared by its letters.
"""

from __future__ import annotations


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_listed(text))


STOP_WORDS = _words(
    "a an the this that these those it its itself they them their theirs there here he she "
    "his her we us our you your yours i me my one ones of to in on at by for from with into "
    "onto over under about as than then so such and or but nor if when while where which who "
    "whom whose what how why be is are was were been being am do does did doing done have has "
    "had having will would shall should can could may might must also just very too only own "
    "same other another each every any some both either neither all more most less least few "
    "much many through during via per within across between out up down off again further "
    "once because since until although though however therefore thus hence e.g i.e etc s t d "
    "ll re ve let get gets got"
)

NEGATIONS = _words(
    "not no never none nothing neither nor without cannot nobody nowhere hardly lacks lack "
    "fails refuses unable impossible unless except"
)

# Function words whose presence changes what is claimed: they are aligned like content words.
CLAIM_WORDS = _words(
    "must may might should can could only all every some any always more most less least few fewer"
)

OPPOSITES: tuple[tuple[str, str], ...] = (
    ("more", "less"),
    ("more", "fewer"),
    ("most", "least"),
    ("increase", "decrease"),
    ("raise", "lower"),
    ("higher", "lower"),
    ("high", "low"),
    ("highest", "lowest"),
    ("larger", "smaller"),
    ("large", "small"),
    ("largest", "smallest"),
    ("greater", "less"),
    ("greater", "smaller"),
    ("greater", "lower"),
    ("longer", "shorter"),
    ("long", "short"),
    ("faster", "slower"),
    ("fast", "slow"),
    ("better", "worse"),
    ("best", "worst"),
    ("above", "below"),
    ("over", "under"),
    ("before", "after"),
    ("first", "last"),
    ("earlier", "later"),
    ("previous", "next"),
    ("start", "end"),
    ("start", "stop"),
    ("begin", "end"),
    ("minimum", "maximum"),
    ("min", "max"),
    ("enable", "disable"),
    ("allow", "deny"),
    ("allow", "forbid"),
    ("allow", "prevent"),
    ("allow", "disallow"),
    ("permit", "forbid"),
    ("accept", "reject"),
    ("accept", "refuse"),
    ("include", "exclude"),
    ("include", "omit"),
    ("add", "remove"),
    ("insert", "delete"),
    ("create", "delete"),
    ("install", "uninstall"),
    ("mount", "unmount"),
    ("open", "close"),
    ("lock", "unlock"),
    ("encrypt", "decrypt"),
    ("encode", "decode"),
    ("import", "export"),
    ("upload", "download"),
    ("read", "write"),
    ("input", "output"),
    ("send", "receive"),
    ("push", "pull"),
    ("success", "failure"),
    ("succeed", "fail"),
    ("true", "false"),
    ("yes", "no"),
    ("on", "off"),
    ("with", "without"),
    ("always", "never"),
    ("sometimes", "never"),
    ("all", "none"),
    ("all", "some"),
    ("required", "optional"),
    ("mandatory", "optional"),
    ("possible", "impossible"),
    ("valid", "invalid"),
    ("supported", "unsupported"),
    ("available", "unavailable"),
    ("necessary", "unnecessary"),
    ("mutable", "immutable"),
    ("signed", "unsigned"),
    ("public", "private"),
    ("local", "remote"),
    ("local", "global"),
    ("internal", "external"),
    ("left", "right"),
    ("top", "bottom"),
    ("inside", "outside"),
    ("upper", "lower"),
    ("single", "multiple"),
    ("synchronous", "asynchronous"),
    ("positive", "negative"),
    ("explicit", "implicit"),
    ("static", "dynamic"),
    ("new", "old"),
    ("newer", "older"),
    ("must", "may"),
    ("must", "should"),
    ("only", "also"),
    ("improve", "degrade"),
    ("improve", "worsen"),
    ("support", "lack"),
    ("same", "different"),
    ("equal", "different"),
    ("automatic", "manual"),
    ("automatically", "manually"),
    ("client", "server"),
    ("source", "target"),
    ("parent", "child"),
    ("ascending", "descending"),
    ("free", "paid"),
    ("early", "late"),
    ("easy", "difficult"),
    ("easy", "hard"),
    ("simple", "complex"),
    ("safe", "unsafe"),
    ("secure", "insecure"),
    ("deprecated", "recommended"),
)

REPHRASINGS: tuple[str, ...] = (
    "use utilize employ",
    "show display present",
    "create make build generate produce",
    "begin start commence",
    "end finish complete conclude",
    "get obtain retrieve fetch receive",
    "give provide supply offer",
    "let allow enable permit",
    "need require",
    "help assist aid",
    "choose select pick",
    "change modify alter edit adjust",
    "delete remove erase",
    "send transmit submit",
    "return yield",
    "call invoke",
    "run execute",
    "set configure specify define",
    "check verify validate confirm",
    "ensure guarantee",
    "contain include comprise",
    "improve enhance",
    "lower reduce decrease",
    "increase raise grow",
    "keep retain preserve maintain",
    "try attempt",
    "find locate discover",
    "fix correct repair resolve",
    "large big",
    "fast quick rapid",
    "important crucial essential vital key",
    "multiple several many various numerous",
    "simple easy straightforward",
    "whole entire full complete",
    "method way approach technique",
    "error failure",
    "example instance",
    "image picture",
    "directory folder",
    "argument parameter",
    "limit maximum cap",
    "reply response answer",
    "task job",
    "part portion section",
    "issue problem",
    "about regarding concerning",
    "automatically automatic",
    "currently presently now",
    "typically usually generally commonly often normally",
    "additionally also furthermore moreover",
    "e.g example",
    "docs documentation",
    "info information",
    "app application",
    "config configuration",
    "kb kilobyte",
    "mb megabyte",
    "gb gigabyte",
    "ms millisecond",
    "sec second",
    "min minute",
    "hr hour",
)

IRREGULAR: dict[str, str] = {
    "ran": "run",
    "made": "make",
    "built": "build",
    "sent": "send",
    "chose": "choose",
    "chosen": "choose",
    "wrote": "write",
    "written": "write",
    "found": "find",
    "gave": "give",
    "given": "give",
    "shown": "show",
    "held": "hold",
    "kept": "keep",
    "began": "begin",
    "begun": "begin",
    "took": "take",
    "taken": "take",
    "saw": "see",
    "seen": "see",
    "came": "come",
    "went": "go",
    "gone": "go",
    "became": "become",
    "thrown": "throw",
    "threw": "throw",
    "left": "left",
    "meant": "mean",
    "caught": "catch",
    "bound": "bind",
    "understood": "understand",
    "children": "child",
    "indices": "index",
    "indexes": "index",
    "matrices": "matrix",
    "people": "person",
    "lost": "lose",
    "led": "lead",
    "met": "meet",
    "paid": "pay",
    "read": "read",
    "spent": "spend",
    "told": "tell",
    "won": "win",
    "used": "use",
    "using": "use",
}

NUMBER_WORDS: dict[str, str] = {
    word: str(value)
    for value, word in enumerate(
        _listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen twenty"
        )
    )
    if word != "one"
} | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000"}

CONTRACTIONS: dict[str, tuple[str, ...]] = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
}
