"""Which character a LaTeX command stands for."""

import unicodedata
from functools import lru_cache

__all__ = ["ACCENTS", "SUBSCRIPTS", "SUPERSCRIPTS", "alphabet", "symbol"]

_WORDS = """
times × cdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ ominus ⊖ otimes ⊗ oslash ⊘ odot ⊙ dagger † ddagger ‡
cap ∩ cup ∪ uplus ⊎ sqcap ⊓ sqcup ⊔ vee ∨ lor ∨ wedge ∧ land ∧ setminus ∖ wr ≀ diamond ⋄ amalg ⨿ bigcirc ◯ triangle △
le ≤ leq ≤ leqslant ⩽ ge ≥ geq ≥ geqslant ⩾ ne ≠ neq ≠ ll ≪ gg ≫ equiv ≡ sim ∼ simeq ≃ approx ≈ cong ≅ propto ∝
prec ≺ succ ≻ preceq ⪯ succeq ⪰ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ subsetneq ⊊ supsetneq ⊋ sqsubseteq ⊑
sqsupseteq ⊒ in ∈ ni ∋ notin ∉ perp ⊥ parallel ∥ mid ∣ nmid ∤ models ⊨ vdash ⊢ dashv ⊣ vDash ⊨ asymp ≍ doteq ≐
triangleq ≜ coloneqq ≔ lesssim ≲ gtrsim ≳ bowtie ⋈
to → rightarrow → gets ← leftarrow ← leftrightarrow ↔ Rightarrow ⇒ implies ⟹ Leftarrow ⇐ impliedby ⟸ Leftrightarrow ⇔
iff ⟺ longrightarrow ⟶ longleftarrow ⟵ Longrightarrow ⟹ Longleftarrow ⟸ longleftrightarrow ⟷ Longleftrightarrow ⟺
mapsto ↦ longmapsto ⟼ hookrightarrow ↪ hookleftarrow ↩ uparrow ↑ downarrow ↓ updownarrow ↕ Uparrow ⇑ Downarrow ⇓
nearrow ↗ searrow ↘ swarrow ↙ nwarrow ↖ rightharpoonup ⇀ rightharpoondown ⇁ leftharpoonup ↼ rightleftharpoons ⇌
leadsto ⇝
sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigvee ⋁ bigwedge ⋀ bigoplus ⨁ bigotimes ⨂ bigodot ⨀
infty ∞ partial ∂ nabla ∇ forall ∀ exists ∃ nexists ∄ emptyset ∅ varnothing ∅ neg ¬ lnot ¬ top ⊤ bot ⊥ angle ∠ surd √
prime ′ hbar ℏ ell ℓ Re ℜ Im ℑ wp ℘ aleph ℵ beth ℶ imath ı jmath ȷ therefore ∴ because ∵ checkmark ✓ square □ Box □
blacksquare ■ qed ∎ degree ° clubsuit ♣ diamondsuit ♢ heartsuit ♡ spadesuit ♠ flat ♭ natural ♮ sharp ♯
ldots … dots … cdots ⋯ vdots ⋮ ddots ⋱ dotsc … dotsb ⋯
langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lvert | rvert | lVert ‖ rVert ‖ vert | Vert ‖ lbrace { rbrace }
lbrack [ rbrack ] backslash \\ colon : | ‖ { { } } % % $ $ & & # # _ _
AA Å aa å AE Æ ae æ O Ø o ø L Ł l ł ss ß S § P ¶ pounds £ copyright © euro €
epsilon ε varepsilon ε varphi ϕ vartheta ϑ varpi ϖ varrho ϱ varsigma ς varkappa ϰ digamma ϝ lambda λ Lambda Λ
"""
_BY_NAME = dict(zip(*[iter(_WORDS.split())] * 2, strict=True))
_SPACES = {",": " ", ":": " ", ";": " ", " ": " ", "!": "", "quad": "  ", "qquad": "    ", "enspace": " ", "/": ""}
_FUNCTION_NAMES = """
sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim limsup liminf max min sup inf det dim
ker deg gcd arg hom Pr argmax argmin tr rank sgn
"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_SILENT_NAMES = """
left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle textstyle scriptstyle
limits nolimits nonumber notag centering hline
"""
_NOTHING = frozenset(_SILENT_NAMES.split())
ACCENTS = {
    "hat": "\u0302",
    "widehat": "\u0302",
    "bar": "\u0304",
    "overline": "\u0305",
    "vec": "\u20d7",
    "dot": "\u0307",
    "ddot": "\u0308",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "underline": "\u0332",
    "acute": "\u0301",
    "grave": "\u0300",
    "check": "\u030c",
    "breve": "\u0306",
    "not": "\u0338",
}
_ALPHABETS = {
    "mathbb": "DOUBLE-STRUCK",
    "Bbb": "DOUBLE-STRUCK",
    "mathcal": "SCRIPT",
    "mathscr": "SCRIPT",
    "mathfrak": "FRAKTUR",
}

SUPERSCRIPTS = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW′ ∗TαβγδεθιφχT",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ′ *ᵀᵅᵝᵞᵟᵋᶿᶥᵠᵡᵀ",
        strict=True,
    )
)
SUBSCRIPTS = dict(zip("0123456789+-=()aehijklmnoprstuvxβγρφχ ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ ", strict=True))


@lru_cache(maxsize=512)
def symbol(name: str) -> str | None:
    """What the command is written as, or nothing if it is not known."""
    if name in _NOTHING:
        return ""
    if name in _FUNCTIONS:
        return name
    found = _SPACES.get(name) if name in _SPACES else _BY_NAME.get(name)
    if found is None and len(name) > 1 and name.isalpha():
        size = "CAPITAL" if name[0].isupper() else "SMALL"
        found = _named(f"GREEK {size} LETTER {name.upper()}")
    return found


def alphabet(command: str, text: str) -> str | None:
    """The text in the alphabet that a command such as ``mathbb`` stands for, or nothing if it is not one."""
    kind = _ALPHABETS.get(command)
    if kind is None:
        return None
    return "".join(_letter(kind, letter) for letter in text)


def _letter(kind: str, letter: str) -> str:
    if not (letter.isascii() and letter.isalnum()):
        return letter
    if letter.isdigit():
        return _named(f"MATHEMATICAL {kind} DIGIT {unicodedata.name(letter).split()[-1]}") or letter
    size = "CAPITAL" if letter.isupper() else "SMALL"
    names = [f"{kind} {size} {letter.upper()}", f"MATHEMATICAL {kind} {size} {letter.upper()}"]
    if kind == "FRAKTUR":
        names.insert(0, f"BLACK-LETTER {size} {letter.upper()}")
    return next((found for name in names if (found := _named(name))), letter)


def _named(name: str) -> str | None:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return None
