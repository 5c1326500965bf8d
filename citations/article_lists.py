"""Groups of article numbers behind one noun, with the acts that govern them."""

import re
from dataclasses import dataclass

from citations.governors import Governor, governor_at
from citations.numbers import has_number, is_lettered, normal
from citations.passage import Draft, Passage
from citations.patterns import (
    AFTERWARDS,
    AND,
    CHAIN,
    CREATED,
    ENDS_LIST,
    JOIN,
    LABEL,
    LIST_GOES_ON,
    NEW,
    NUMBER,
    OPENING,
    QUALIFIER,
    TO,
)
from citations.reference import Form


@dataclass(slots=True)
class ArticleLists:
    """The lists of articles in a passage.

    ``open_from`` and ``open_end`` are the first draft and the end of the last list whose act is not named: an act behind
    the next list may govern it too.
    """

    passage: Passage
    open_from: int = -1
    open_end: int = -1

    def read(self, start: int, at: int, noun: str) -> int:
        """Read the list whose noun begins at ``start`` and whose numbers begin at ``at``; return where it ends."""
        passage = self.passage
        number = NUMBER.match(passage.text, at)
        if not number:
            return at
        if noun and self._is_no_citation(start, number.end()):
            return number.end()
        first = len(passage.drafts)
        group, end = self._numbers(start, number, noun)
        without_act = passage.drafts[group:]
        if not without_act:
            self.open_from = -1
            return end
        preposed = passage.preposed[1] if passage.preposed[0] == start else ""
        is_new = NEW.search(passage.text, max(at, end - 10), end) is not None
        for draft in without_act:
            draft.act = "" if is_new else preposed or self._default_act(draft.place.split("..")[0], draft.start, end)
        if not (group == first and self.open_from >= 0 and self._is_joined(start)):
            self.open_from = group
        self.open_end = end
        return end

    def _is_no_citation(self, start: int, end: int) -> bool:
        """True for words that are a heading ("Art. 5. - …"), or speak of an article to be made ("un article 5")."""
        text = self.passage.text
        if OPENING.search(text[max(0, start - 3) : start]) and LABEL.match(text, end):
            return True
        return CREATED.search(text, max(0, start - 12), start) is not None

    def _numbers(self, start: int, number: re.Match[str] | None, noun: str) -> tuple[int, int]:
        """Note the numbers of a list, with the acts behind them; from which draft on no act is named, and the list's end."""
        passage, drafts = self.passage, self.passage.drafts
        is_plural = noun.rstrip(" .").endswith(("s", "S")) or not noun
        first = group = len(drafts)
        end = start
        while number:
            begin = start if len(drafts) == first and number["plain"] and not is_plural else number.start()
            end, place, form = self._article_or_range(number)
            drafts.append(Draft(begin, end, form, "", place))
            end, is_inserted = self._past_qualifiers(end)
            governor = governor_at(passage, end, is_inserted=is_inserted)
            if governor and not governor.act and number["lettered"] and passage.context.is_lettered:
                governor = None  # conventions and the like have no such numbers: the words say something else
            if governor:
                for draft in drafts[group:]:
                    draft.act, draft.act_words = governor.act, governor.words
                    draft.is_relative = False
                if group == first:
                    self._govern_earlier(start, governor)
                group, end = len(drafts), governor.end
            number = self._next_number(end, is_plural)
        return group, end

    def _article_or_range(self, number: re.Match[str]) -> tuple[int, str, Form]:
        text, first = self.passage.text, normal(number[0])
        to = TO.match(text, number.end())
        last = NUMBER.match(text, to.end()) if to else None
        if last and bool(last["lettered"]) == bool(number["lettered"]) and (last["lettered"] or self._goes_on(last.end())):
            return last.end(), f"{first}..{normal(last[0])}", "range"
        return number.end(), first, "article"

    def _past_qualifiers(self, at: int) -> tuple[int, bool]:
        """Past paragraphs, points and the like behind an article's number, and whether there are any."""
        begin = at
        for _ in range(12):
            more = QUALIFIER.match(self.passage.text, at) or AFTERWARDS.match(self.passage.text, at)
            if not more:
                break
            at = more.end()
        return at, at > begin

    def _next_number(self, at: int, is_plural: bool) -> re.Match[str] | None:
        text = self.passage.text
        separator = AND.match(text, at)
        if not separator:
            return None
        number = NUMBER.match(text, separator.end())
        if number and number["plain"] and ENDS_LIST.search(separator[0]):
            return None
        if not JOIN.search(separator[0]):
            return number if number and number["lettered"] and text[at - 1] == ")" else None
        if number and (number["lettered"] or (is_plural and number["arabic"] and self._goes_on(number.end()))):
            return number
        return None

    def _goes_on(self, at: int) -> bool:
        return LIST_GOES_ON.match(self.passage.text, at) is not None

    def _default_act(self, number: str, start: int, end: int) -> str:
        """The act of an article that no words name it for."""
        passage, context = self.passage, self.passage.context
        zone = passage.zone(start)
        lettered = is_lettered(number)
        if zone is not None:
            act = passage.zone_act(zone)
            return context.act if lettered and context.is_lettered and ":code:" not in act else act
        if context.is_lettered:
            if lettered and (context.numbers is None or number in context.numbers):
                return context.act
            return passage.earlier_in_sentence(start, "code" if lettered else "") or (context.act if lettered else "")
        if lettered:
            return passage.earlier_in_sentence(start, "code")
        is_of_own = context.numbers is None or has_number(context.numbers, number)
        if passage.is_amended(start, end):
            act = passage.act_of(passage.named[-1].name if passage.named else context.spoken.get("", ""))
            return act if act != context.act or is_of_own else ""
        return context.act if is_of_own else passage.earlier_in_sentence(start, "")

    def _govern_earlier(self, start: int, governor: Governor) -> None:
        """Let an act that is named behind a later group govern the group before it too, where that is joined to it.

        "aux articles L. 1 et L. 2 et à l'article L. 3 du code de commerce": L. 1 may be of either act; it is of the
        other where its own act has no such article.
        """
        numbers = self.passage.context.numbers
        if self.open_from < 0 or not governor.act or numbers is None or not self._is_joined(start):
            return
        for draft in self.passage.drafts[self.open_from :]:
            is_open = draft.form in ("article", "range") and not draft.act_words and not draft.whole
            if is_open and not has_number(numbers, draft.place.split("..")[0]):
                draft.act, draft.act_words = governor.act, governor.words

    def _is_joined(self, start: int) -> bool:
        """True where nothing but "et à", "du deuxième alinéa de" stands between the last group without an act and here."""
        return start - self.open_end <= 90 and CHAIN.fullmatch(self.passage.text, self.open_end, start) is not None
