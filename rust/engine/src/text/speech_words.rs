//! The words and phrases that [`super::speech`] goes by: lower case, without accents and apostrophes where nothing else is said. Lists that
//! are asked for every word stand in one table ([`known`]), so that a word is looked up once.

use std::collections::HashMap;

use crate::process::Lazy;

/// The lists that a word is in.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The lists that it stands in, a bit for each.
    lists: u16,
    /// The phrases that it begins.
    phrases: Vec<(Phrases, &'static str)>,
}

/// A list of words.
#[derive(Debug, Clone, Copy)]
pub(super) enum List {
    Leads,
    Auxiliaries,
    Subjects,
    Determiners,
    Courtesy,
    Acknowledgements,
    /// Words that deny: no clause without one says that somebody does not know.
    Denials,
    /// Words that ask, of six languages.
    Interrogatives,
    /// First words of orders to be told something.
    Orders,
    /// First words of a request to keep what it says.
    Tellers,
}

/// A list of phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phrases {
    Questions,
    Ignorant,
    Offers,
}

impl Known {
    pub(super) fn is_in(&self, list: List) -> bool {
        self.lists & 1 << list as u8 != 0
    }

    /// The phrases of a list that it begins.
    pub(super) fn begins(&self, list: Phrases) -> impl Iterator<Item = &'static str> {
        self.phrases.iter().filter(move |(of, _)| *of == list).map(|(_, phrase)| *phrase)
    }
}

/// The lists that a word is in, all at once.
pub(super) fn known(word: &str) -> &'static Known {
    static NOTHING: Known = Known { lists: 0, phrases: Vec::new() };
    static KNOWN: Lazy<HashMap<&str, Known>> = Lazy::new(|| {
        let mut words: HashMap<&str, Known> = HashMap::new();
        let lists: [(List, &[&'static str]); 10] = [
            (List::Leads, &LEADS),
            (List::Auxiliaries, &AUXILIARIES),
            (List::Subjects, &SUBJECTS),
            (List::Determiners, &DETERMINERS),
            (List::Courtesy, &COURTESY_WORDS),
            (List::Acknowledgements, &ACKNOWLEDGEMENTS),
            (List::Denials, &DENIALS),
            (List::Interrogatives, &INTERROGATIVES),
            (List::Orders, &ORDERS),
            (List::Tellers, &TELLERS),
        ];
        for (list, word) in lists.iter().flat_map(|(list, words)| words.iter().map(move |word| (*list, *word))) {
            words.entry(word).or_default().lists |= 1 << list as u8;
        }
        let phrases: [(Phrases, &[&'static str]); 5] = [
            (Phrases::Questions, &QUESTIONS),
            (Phrases::Questions, &ARABIC_QUESTIONS),
            (Phrases::Questions, &REQUESTS),
            (Phrases::Ignorant, &IGNORANT),
            (Phrases::Offers, &OFFERS),
        ];
        for (list, phrase) in phrases.iter().flat_map(|(list, phrases)| phrases.iter().map(move |phrase| (*list, *phrase))) {
            let first = phrase.split_once(' ').map_or(phrase, |(first, _)| first);
            words.entry(first).or_default().phrases.push((list, phrase));
        }
        words
    });
    KNOWN.get(word).unwrap_or(&NOTHING)
}

/// Words that open a clause of their own.
pub(super) const BUT: [&str; 12] = [
    ", but ",
    " but ",
    ", aber ",
    " aber ",
    ", pero ",
    ", mais ",
    ", mas ",
    " \u{43d}\u{43e} ",
    ", ma ",
    "\u{ff0c}\u{4f46}\u{662f}",
    "\u{ff0c}\u{4f46}",
    "\u{ff0c}\u{4e0d}\u{8fc7}",
];

/// Words that may stand before a question.
const LEADS: [&str; 26] = [
    "and", "so", "ok", "okay", "hey", "hi", "hello", "but", "also", "please", "well", "oh", "wow", "sorry", "und", "also", "et", "y", "e",
    "hola", "bonjour", "hallo", "thanks", "by", "the", "way",
];

const AUXILIARIES: [&str; 40] = [
    "is", "are", "was", "were", "am", "do", "does", "did", "can", "could", "will", "would", "shall", "should", "may", "might", "must",
    "have", "has", "had", "isnt", "arent", "wasnt", "werent", "dont", "doesnt", "didnt", "cant", "couldnt", "wont", "wouldnt", "shouldnt",
    "havent", "hasnt", "hadnt", "whats", "wheres", "whos", "hows", "gonna",
];

const SUBJECTS: [&str; 20] = [
    "i", "you", "he", "she", "it", "we", "they", "this", "that", "these", "those", "there", "anyone", "anybody", "someone", "everyone",
    "anything", "youre", "theyre", "im",
];

const DETERMINERS: [&str; 12] = ["the", "my", "your", "our", "his", "her", "their", "its", "any", "a", "an", "some"];

/// The beginnings of questions.
const QUESTIONS: [&str; 70] = [
    "whats",
    "wheres",
    "whos",
    "hows",
    "whens",
    "any idea",
    "how come",
    "what about",
    "how about",
    "what kind",
    "what time",
    "cual es",
    "cuales son",
    "por que",
    "est ce que",
    "quest ce",
    "qu est ce",
    "quel est",
    "quelle est",
    "quels sont",
    "quelles sont",
    "quel",
    "quelle",
    "pourquoi",
    "combien",
    "comment sappelle",
    "qui est",
    "ou est",
    "ou habite",
    "qual e",
    "quais sao",
    "quem e",
    "onde fica",
    "onde moro",
    "qual",
    "quale",
    "dove",
    "perche",
    "che cosa",
    "cosa",
    "chi e",
    "\u{43a}\u{430}\u{43a}\u{43e}\u{439}",
    "\u{43a}\u{430}\u{43a}\u{430}\u{44f}",
    "\u{43a}\u{430}\u{43a}\u{438}\u{435}",
    "\u{43a}\u{430}\u{43a}\u{43e}\u{435}",
    "\u{441}\u{43a}\u{43e}\u{43b}\u{44c}\u{43a}\u{43e}",
    "\u{43f}\u{43e}\u{447}\u{435}\u{43c}\u{443}",
    "\u{437}\u{430}\u{447}\u{435}\u{43c}",
    "\u{433}\u{434}\u{435}",
    "\u{442}\u{44b} \u{43f}\u{43e}\u{43c}\u{43d}\u{438}\u{448}\u{44c} \u{43c}\u{43e}\u{439}",
    "\u{442}\u{44b} \u{43f}\u{43e}\u{43c}\u{43d}\u{438}\u{448}\u{44c} \u{43c}\u{43e}\u{44e}",
    "\u{442}\u{44b} \u{43f}\u{43e}\u{43c}\u{43d}\u{438}\u{448}\u{44c} \u{43c}\u{43e}\u{435}",
    "\u{442}\u{44b} \u{437}\u{43d}\u{430}\u{435}\u{448}\u{44c} \u{43c}\u{43e}\u{439}",
    "\u{442}\u{44b} \u{437}\u{43d}\u{430}\u{435}\u{448}\u{44c} \u{43c}\u{43e}\u{44e}",
    "\u{442}\u{44b} \u{437}\u{43d}\u{430}\u{435}\u{448}\u{44c} \u{43c}\u{43e}\u{435}",
    "te souviens tu",
    "tu te souviens de mon",
    "tu te souviens de ma",
    "te acuerdas de mi",
    "recuerdas mi",
    "ricordi il mio",
    "ricordi la mia",
    "\u{43a}\u{430}\u{43a} \u{43d}\u{430}\u{437}\u{44b}\u{432}\u{430}\u{435}\u{442}\u{441}\u{44f}",
    "\u{43a}\u{430}\u{43a} \u{437}\u{43e}\u{432}\u{443}\u{442}",
    "puedes decirme mi",
    "puedes decirme el",
    "puedes decirme la",
    "puedes decirme cual",
    "puedes decirme donde",
    "podrias decirme",
];

/// The same where the accent makes the question, as it is written.
pub(super) const QUESTIONS_ACCENTED: [&str; 10] = [
    "qu\u{e9}",
    "cu\u{e1}l",
    "cu\u{e1}les",
    "qui\u{e9}n",
    "qui\u{e9}nes",
    "d\u{f3}nde",
    "cu\u{e1}ndo",
    "c\u{f3}mo",
    "cu\u{e1}nto",
    "cu\u{e1}ntos",
];

const ARABIC_QUESTIONS: [&str; 17] = [
    "\u{647}\u{644}",
    "\u{623}\u{64a}\u{646}",
    "\u{627}\u{64a}\u{646}",
    "\u{645}\u{62a}\u{649}",
    "\u{643}\u{64a}\u{641}",
    "\u{645}\u{627}\u{630}\u{627}",
    "\u{644}\u{645}\u{627}\u{630}\u{627}",
    "\u{643}\u{645}",
    "\u{645}\u{627} \u{647}\u{648}",
    "\u{645}\u{627} \u{647}\u{64a}",
    "\u{645}\u{627} \u{627}\u{633}\u{645}",
    "\u{645}\u{627} \u{631}\u{642}\u{645}",
    "\u{645}\u{646} \u{647}\u{648}",
    "\u{645}\u{646} \u{647}\u{64a}",
    "\u{623}\u{62e}\u{628}\u{631}\u{646}\u{64a}",
    "\u{627}\u{62e}\u{628}\u{631}\u{646}\u{64a}",
    "\u{642}\u{644} \u{644}\u{64a}",
];

/// Particles and endings that make a question of a sentence: Chinese, Japanese, Korean.
pub(super) const QUESTION_ENDS: [&str; 27] = [
    "\u{5417}",
    "\u{55ce}",
    "\u{5462}",
    "\u{3067}\u{3059}\u{304b}",
    "\u{307e}\u{3059}\u{304b}",
    "\u{307e}\u{3057}\u{305f}\u{304b}",
    "\u{c2b5}\u{b2c8}\u{ae4c}",
    "\u{b098}\u{c694}",
    "\u{bb50}\u{c608}\u{c694}",
    "\u{bb50}\u{c57c}",
    "\u{bb50}\u{c8e0}",
    "\u{c778}\u{ac00}\u{c694}",
    "\u{c5b4}\u{b514}\u{c608}\u{c694}",
    "\u{c5b8}\u{c81c}\u{c608}\u{c694}",
    "\u{b204}\u{ad6c}\u{c608}\u{c694}",
    "\u{c5bc}\u{b9c8}\u{c608}\u{c694}",
    "\u{c54c}\u{b824}\u{c918}",
    "\u{c54c}\u{b824} \u{c918}",
    "\u{c54c}\u{b824}\u{c8fc}\u{c138}\u{c694}",
    "\u{c54c}\u{b824} \u{c8fc}\u{c138}\u{c694}",
    "\u{b9d0}\u{d574}\u{c918}",
    "\u{b9d0}\u{d574} \u{c918}",
    "\u{3092}\u{6559}\u{3048}\u{3066}",
    "\u{306f}\u{6559}\u{3048}\u{3066}",
    "\u{6559}\u{3048}\u{3066}\u{304f}\u{3060}\u{3055}\u{3044}",
    "\u{6559}\u{3048}\u{3066}\u{4e0b}\u{3055}\u{3044}",
    "\u{6559}\u{3048}\u{3066}\u{304f}\u{308c}\u{308b}",
];

pub(super) const CHINESE_QUESTIONS: [&str; 9] = [
    "\u{4ec0}\u{4e48}",
    "\u{54ea}\u{91cc}",
    "\u{54ea}\u{4e2a}",
    "\u{54ea}\u{513f}",
    "\u{4e3a}\u{4ec0}\u{4e48}",
    "\u{51e0}\u{70b9}",
    "\u{591a}\u{5c11}",
    "\u{4f55}\u{65f6}",
    "\u{662f}\u{8c01}",
];

/// Requests to be told something.
const REQUESTS: [&str; 16] = [
    "tell me what",
    "tell me which",
    "tell me who",
    "tell me where",
    "tell me when",
    "tell me why",
    "tell me how",
    "tell me about",
    "remind me what",
    "remind me which",
    "remind me who",
    "remind me where",
    "remind me when",
    "remind me how",
    "i wonder what",
    "do you know",
];

/// Not knowing, word by word, where the verb or its pronoun says who does not know. [`super::speech_ignorance`] has English and the rest.
pub(super) const IGNORANT: [&str; 52] = [
    "weiss ich nicht",
    "weiss ich leider nicht",
    "ich weiss nicht",
    "ich weiss es nicht",
    "ich weiss leider nicht",
    "kann ich nicht sagen",
    "kann ich leider nicht sagen",
    "kann ich dir nicht sagen",
    "kann ich ihnen nicht sagen",
    "mir nicht bekannt",
    "kann mich nicht erinnern",
    "kann ich mich nicht erinnern",
    "ich erinnere mich nicht",
    "je ne sais pas",
    "je sais pas",
    "je nai aucune idee",
    "je nai aucune information",
    "ne me souviens pas",
    "je lignore",
    "no lo se",
    "no tengo idea",
    "no tengo ni idea",
    "ni idea",
    "no recuerdo",
    "lo desconozco",
    "non lo so",
    "non so",
    "non ricordo",
    "non ne ho idea",
    "nao sei",
    "nao me lembro",
    "nao faco ideia",
    "ik weet het niet",
    "weet ik niet",
    "ik heb geen idee",
    "nie wiem",
    "bilmiyorum",
    "jag vet inte",
    "vet jag inte",
    "det vet jag inte",
    "no me has dicho",
    "no me ha dicho",
    "no me dijiste",
    "non mi hai detto",
    "non mi hai ancora detto",
    "non mi ha detto",
    "nao me disse",
    "ne mavez pas dit",
    "ne mavez pas donne",
    "ne mavez pas indique",
    "ne mas pas dit",
    "ne mas pas donne",
];

/// The same in scripts where words do not stand alone, as parts of the text.
pub(super) const IGNORANT_ACCENTED: [&str; 55] = [
    "no s\u{e9}",
    "\u{43d}\u{435} \u{437}\u{43d}\u{430}\u{44e}",
    "\u{43d}\u{435} \u{43f}\u{43e}\u{43c}\u{43d}\u{44e}",
    "\u{43d}\u{435}\u{442} \u{438}\u{43d}\u{444}\u{43e}\u{440}\u{43c}\u{430}\u{446}\u{438}\u{438}",
    "\u{43f}\u{43e}\u{43d}\u{44f}\u{442}\u{438}\u{44f} \u{43d}\u{435} \u{438}\u{43c}\u{435}\u{44e}",
    "\u{43d}\u{435} \u{440}\u{430}\u{441}\u{43f}\u{43e}\u{43b}\u{430}\u{433}\u{430}\u{44e}",
    "\u{43d}\u{435} \u{437}\u{43d}\u{430}\u{454}\u{43c}",
    "\u{4e0d}\u{77e5}\u{9053}",
    "\u{4e0d}\u{6e05}\u{695a}",
    "\u{4e0d}\u{8bb0}\u{5f97}",
    "\u{6ca1}\u{6709}\u{76f8}\u{5173}\u{4fe1}\u{606f}",
    "\u{6ca1}\u{6709}\u{8fd9}\u{65b9}\u{9762}\u{7684}\u{4fe1}\u{606f}",
    "\u{6ca1}\u{6709}\u{5173}\u{4e8e}",
    "\u{65e0}\u{6cd5}\u{786e}\u{5b9a}",
    "\u{7121}\u{6cd5}\u{78ba}\u{5b9a}",
    "\u{308f}\u{304b}\u{308a}\u{307e}\u{305b}\u{3093}",
    "\u{5206}\u{304b}\u{308a}\u{307e}\u{305b}\u{3093}",
    "\u{77e5}\u{308a}\u{307e}\u{305b}\u{3093}",
    "\u{5b58}\u{3058}\u{307e}\u{305b}\u{3093}",
    "\u{308f}\u{304b}\u{3089}\u{306a}\u{3044}",
    "\u{5206}\u{304b}\u{3089}\u{306a}\u{3044}",
    "\u{899a}\u{3048}\u{3066}\u{3044}\u{307e}\u{305b}\u{3093}",
    "\u{60c5}\u{5831}\u{304c}\u{3042}\u{308a}\u{307e}\u{305b}\u{3093}",
    "\u{baa8}\u{b974}\u{aca0}",
    "\u{baa8}\u{b985}\u{b2c8}\u{b2e4}",
    "\u{bab0}\u{b77c}",
    "\u{c54c} \u{c218} \u{c5c6}",
    "\u{c815}\u{bcf4}\u{ac00} \u{c5c6}",
    "\u{ae30}\u{c5b5}\u{b098}\u{c9c0} \u{c54a}",
    "\u{644}\u{627} \u{623}\u{639}\u{631}\u{641}",
    "\u{644}\u{627} \u{627}\u{639}\u{631}\u{641}",
    "\u{644}\u{627} \u{623}\u{639}\u{644}\u{645}",
    "\u{644}\u{627} \u{623}\u{62f}\u{631}\u{64a}",
    "\u{644}\u{64a}\u{633} \u{644}\u{62f}\u{64a} \u{645}\u{639}\u{644}\u{648}\u{645}\u{627}\u{62a}",
    "\u{644}\u{627} \u{623}\u{62a}\u{630}\u{643}\u{631}",
    "\u{928}\u{939}\u{940}\u{902} \u{92a}\u{924}\u{93e}",
    "\u{92a}\u{924}\u{93e} \u{928}\u{939}\u{940}\u{902}",
    "\u{928}\u{939}\u{940}\u{902} \u{91c}\u{93e}\u{928}",
    "\u{92e}\u{93e}\u{932}\u{942}\u{92e} \u{928}\u{939}\u{940}\u{902}",
    "\u{91c}\u{93e}\u{928}\u{915}\u{93e}\u{930}\u{940} \u{928}\u{939}\u{940}\u{902}",
    "\u{43d}\u{435} \u{441}\u{43a}\u{430}\u{437}\u{430}\u{43b}\u{438} \u{43c}\u{43d}\u{435}",
    "\u{43d}\u{435} \u{433}\u{43e}\u{432}\u{43e}\u{440}\u{438}\u{43b}\u{438} \u{43c}\u{43d}\u{435}",
    "\u{43d}\u{435} \u{441}\u{43e}\u{43e}\u{431}\u{449}\u{438}\u{43b}\u{438} \u{43c}\u{43d}\u{435}",
    "\u{435}\u{449}\u{451} \u{43d}\u{435} \u{441}\u{43a}\u{430}\u{437}\u{430}\u{43b}\u{438}",
    "\u{435}\u{449}\u{435} \u{43d}\u{435} \u{441}\u{43a}\u{430}\u{437}\u{430}\u{43b}\u{438}",
    "\u{435}\u{449}\u{451} \u{43d}\u{435} \u{441}\u{43e}\u{43e}\u{431}\u{449}\u{438}\u{43b}\u{438}",
    "\u{6ca1}\u{6709}\u{544a}\u{8bc9}\u{6211}",
    "\u{6ca1}\u{544a}\u{8bc9}\u{6211}",
    "\u{672a}\u{544a}\u{8bc9}\u{6211}",
    "\u{4f3a}\u{3063}\u{3066}\u{3044}\u{307e}\u{305b}\u{3093}",
    "\u{805e}\u{3044}\u{3066}\u{3044}\u{307e}\u{305b}\u{3093}",
    "\u{b9d0}\u{c500}\u{d558}\u{c9c0} \u{c54a}",
    "\u{c54c}\u{b824}\u{c8fc}\u{c9c0} \u{c54a}",
    "\u{644}\u{645} \u{62a}\u{62e}\u{628}\u{631}\u{646}\u{64a}",
    "\u{644}\u{645} \u{62a}\u{630}\u{643}\u{631} \u{644}\u{64a}",
];

/// Words of which every clause of not knowing has one, in the languages that put spaces between words.
const DENIALS: [&str; 36] = [
    "dont",
    "didnt",
    "cant",
    "cannot",
    "couldnt",
    "not",
    "no",
    "nothing",
    "never",
    "unable",
    "wasnt",
    "isnt",
    "arent",
    "werent",
    "havent",
    "hasnt",
    "hadnt",
    "forgot",
    "forgotten",
    "keine",
    "keinen",
    "kein",
    "keinerlei",
    "nicht",
    "pas",
    "aucune",
    "lignore",
    "ni",
    "non",
    "nao",
    "desconozco",
    "niet",
    "geen",
    "nie",
    "bilmiyorum",
    "inte",
];

/// Words that ask.
const INTERROGATIVES: [&str; 54] = [
    "what", "whats", "when", "whens", "where", "wheres", "who", "whos", "whom", "which", "whose", "why", "how", "hows", "wie", "wer", "wo",
    "wann", "warum", "wieso", "wohin", "woher", "wem", "welche", "welcher", "welches", "welchen", "qui", "quel", "quelle", "quels",
    "quelles", "quand", "comment", "combien", "pourquoi", "quien", "cual", "cuales", "cuando", "donde", "como", "cuanto", "cuantos", "chi",
    "che", "cosa", "dove", "quando", "quale", "quanto", "qual", "onde", "quem",
];

/// First words of an order, or of a wish, to be told something.
const ORDERS: [&str; 42] = [
    "tell",
    "give",
    "show",
    "send",
    "get",
    "read",
    "find",
    "remind",
    "look",
    "list",
    "check",
    "i",
    "im",
    "id",
    "sag",
    "sagt",
    "sagen",
    "nenn",
    "nenne",
    "gib",
    "zeig",
    "verrate",
    "dime",
    "dame",
    "dimmi",
    "dammi",
    "diga",
    "digame",
    "deme",
    "dis",
    "donne",
    "dites",
    "donnez",
    "\u{441}\u{43a}\u{430}\u{436}\u{438}",
    "\u{441}\u{43a}\u{430}\u{436}\u{438}\u{442}\u{435}",
    "\u{43f}\u{43e}\u{434}\u{441}\u{43a}\u{430}\u{436}\u{438}",
    "\u{43f}\u{43e}\u{434}\u{441}\u{43a}\u{430}\u{436}\u{438}\u{442}\u{435}",
    "\u{43d}\u{430}\u{437}\u{43e}\u{432}\u{438}",
    "\u{43d}\u{430}\u{437}\u{43e}\u{432}\u{438}\u{442}\u{435}",
    "\u{43d}\u{430}\u{43f}\u{43e}\u{43c}\u{43d}\u{438}",
    "\u{43d}\u{430}\u{43f}\u{43e}\u{43c}\u{43d}\u{438}\u{442}\u{435}",
    "verrat",
];

/// First words of a request to keep what it says: "can you note that ...", "wusstest du, dass ...".
const TELLERS: [&str; 31] = [
    "remind", "did", "do", "can", "could", "would", "will", "kannst", "konntest", "konnten", "konnen", "wusstest", "wussten", "peux",
    "pourrais", "pouvez", "pourriez", "savais", "saviez", "puedes", "podrias", "puede", "sabias", "sabia", "puoi", "potresti", "sapevi",
    "pode", "podes", "poderia", "podria",
];

/// Words that acknowledge, beside [`COURTESY_WORDS`]. A text of these alone is not a hit of a search.
const ACKNOWLEDGEMENTS: [&str; 37] = [
    "noted",
    "got",
    "it",
    "understood",
    "will",
    "do",
    "done",
    "thats",
    "that",
    "all",
    "right",
    "alright",
    "cool",
    "nice",
    "bye",
    "congrats",
    "congratulations",
    "wow",
    "awesome",
    "amazing",
    "wonderful",
    "lovely",
    "excellent",
    "fantastic",
    "saved",
    "sounds",
    "idea",
    "glad",
    "happy",
    "hear",
    "hope",
    "helps",
    "enjoy",
    "anytime",
    "youre",
    "to",
    "for",
];

/// A clause of such words alone says nothing.
const COURTESY_WORDS: [&str; 50] = [
    "sorry",
    "im",
    "i",
    "am",
    "very",
    "so",
    "please",
    "thanks",
    "thank",
    "you",
    "hello",
    "hi",
    "hey",
    "ok",
    "okay",
    "unfortunately",
    "apologies",
    "apologize",
    "my",
    "afraid",
    "sure",
    "great",
    "there",
    "well",
    "oh",
    "good",
    "morning",
    "evening",
    "hmm",
    "leider",
    "entschuldigung",
    "bitte",
    "danke",
    "hallo",
    "desole",
    "bonjour",
    "merci",
    "hola",
    "gracias",
    "perdon",
    "desculpe",
    "ola",
    "obrigado",
    "scusa",
    "ciao",
    "mi",
    "dispiace",
    "welcome",
    "perfect",
    "dear",
];

/// The beginnings of an offer or a request for help.
const OFFERS: [&str; 27] = [
    "let me know",
    "if you tell me",
    "if you let me know",
    "if you share",
    "if you give me",
    "if youd like",
    "if you like",
    "if you can",
    "feel free",
    "happy to",
    "id be happy to",
    "im happy to",
    "i can look",
    "i can check",
    "i can help",
    "i could look",
    "ill look",
    "ill remember",
    "ill check",
    "please tell me",
    "please let me",
    "please share",
    "please provide",
    "please give",
    "please check",
    "you can tell me",
    "you may want to",
];

/// Apologies and thanks, as parts of a short clause.
pub(super) const COURTESY: [&str; 19] = [
    "tut mir leid",
    "lo siento",
    "por favor",
    "s'il vous pla",
    "d\u{e9}sol\u{e9}",
    "\u{438}\u{437}\u{432}\u{438}\u{43d}\u{438}\u{442}\u{435}",
    "\u{43a} \u{441}\u{43e}\u{436}\u{430}\u{43b}\u{435}\u{43d}\u{438}\u{44e}",
    "\u{5bf9}\u{4e0d}\u{8d77}",
    "\u{62b1}\u{6b49}",
    "\u{7533}\u{3057}\u{8a33}",
    "\u{3059}\u{307f}\u{307e}\u{305b}\u{3093}",
    "\u{c8c4}\u{c1a1}",
    "\u{bbf8}\u{c548}",
    "\u{622}\u{633}\u{641}",
    "\u{639}\u{630}\u{631}\u{627}",
    "\u{915}\u{94d}\u{937}\u{92e}\u{93e}",
    "\u{92e}\u{93e}\u{92b}",
    "mi dispiace",
    "how can i help",
];
