//! Question filler: the words that make a sentence a question and say nothing about what is looked for.

/// Whether a folded word is filler of an English question. Only English: the short words of one language are content in another
/// (`die`, `was`, `do`), and nothing here guesses languages. Negations are content.
pub(super) fn is_filler(word: &[u8]) -> bool {
    matches!(word,
        b"a" | b"an" | b"the" | b"this" | b"that" | b"these" | b"those" | b"there" | b"here"
        | b"what" | b"which" | b"who" | b"whom" | b"whose" | b"when" | b"where" | b"why" | b"how"
        | b"is" | b"are" | b"was" | b"were" | b"be" | b"been" | b"being" | b"am" | b"isnt" | b"arent" | b"wasnt" | b"werent"
        | b"do" | b"does" | b"did" | b"done" | b"dont" | b"doesnt" | b"didnt"
        | b"have" | b"has" | b"had" | b"havent" | b"hasnt" | b"hadnt"
        | b"can" | b"could" | b"will" | b"would" | b"shall" | b"should" | b"may" | b"might" | b"must"
        | b"i" | b"me" | b"my" | b"mine" | b"we" | b"us" | b"our" | b"ours" | b"you" | b"your" | b"yours"
        | b"he" | b"him" | b"his" | b"she" | b"her" | b"hers" | b"it" | b"its" | b"they" | b"them" | b"their" | b"theirs"
        | b"of" | b"in" | b"on" | b"at" | b"to" | b"for" | b"from" | b"by" | b"with" | b"about" | b"as" | b"into"
        | b"and" | b"or" | b"but" | b"if" | b"than" | b"then" | b"so" | b"also"
        | b"any" | b"some" | b"please" | b"tell" | b"again" | b"ever")
}
