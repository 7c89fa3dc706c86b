//! Rules for statements on likings and food that stand against each other: "I love coffee" and "I hate coffee now", "I drink wine again" and
//! "I don't drink alcohol", "I eat meat again" and "I'm vegan".

use super::words::{Token, affirmed, is_denial};

const LIKES: [&str; 4] = ["like", "love", "enjoy", "adore"];
const DISLIKES: [&str; 4] = ["hate", "dislike", "detest", "loathe"];

/// Things that somebody eats or drinks, by the word for all of them. Few words suffice: a wrong one would put a doubt on what somebody must avoid.
const FOODS: [(&str, &[&str]); 4] = [
    ("alcohol", &["wine", "beer", "cider", "whisky", "whiskey", "gin", "rum", "vodka", "champagne", "liquor", "cocktail"]),
    ("meat", &["beef", "pork", "chicken", "ham", "bacon", "steak", "lamb", "turkey", "sausage", "veal"]),
    ("dairy", &["milk", "cheese", "butter", "yogurt", "yoghurt", "cream"]),
    ("seafood", &["fish", "shrimp", "prawn", "crab", "lobster", "mussel", "oyster", "salmon", "tuna"]),
];
/// Diets, and the words of [`FOODS`] for what they leave out.
const DIETS: [(&str, &[&str]); 2] = [("vegan", &["meat", "dairy", "seafood", "egg"]), ("vegetarian", &["meat", "seafood"])];

/// Whether two say of one thing that the user likes it, and that they do not.
pub(super) fn are_opposed(a: &[Token], b: &[Token]) -> bool {
    let (Some((a, a_likes)), Some((b, b_likes))) = (taste(a), taste(b)) else { return false };
    a_likes != b_likes && a == b
}

/// The thing that the user likes or does not like, and whether they like it.
pub(super) fn taste(tokens: &[Token]) -> Option<(Vec<&str>, bool)> {
    let denies = tokens.iter().any(is_denial);
    let said: Vec<&str> = affirmed(tokens).collect();
    let (likes, object) = match said[..] {
        ["i", verb, ref object @ ..] if LIKES.contains(&verb) => (!denies, object),
        ["i", verb, ref object @ ..] if DISLIKES.contains(&verb) && !denies => (false, object),
        ["i", "can", "stand", ref object @ ..] if denies => (false, object),
        ["i", "is", "fan", "of", ref object @ ..] => (!denies, object),
        _ => return None,
    };
    (!object.is_empty()).then(|| (object.to_vec(), likes))
}

/// Whether one says that the user eats or drinks what is of a kind that they do not, as the other says.
pub(super) fn break_a_diet(a: &[Token], b: &[Token]) -> bool {
    let breaks = |a, b| eaten(a).zip(refused(b)).is_some_and(|(food, kinds)| kinds.iter().any(|kind| is_of(food, kind)));
    breaks(a, b) || breaks(b, a)
}

fn is_of(food: &str, kind: &str) -> bool {
    food == kind || FOODS.iter().any(|(name, foods)| *name == kind && foods.contains(&food))
}

/// The word for what the user eats or drinks.
fn eaten(tokens: &[Token]) -> Option<&str> {
    let said: Vec<&str> = affirmed(tokens).filter(|word| *word != "can").collect();
    match said[..] {
        ["i", "eat" | "drink", food] if !tokens.iter().any(is_denial) => Some(food),
        _ => None,
    }
}

/// The kinds of what the user does not eat or drink, by their diet or by its name.
fn refused(tokens: &[Token]) -> Option<Vec<&str>> {
    let denies = tokens.iter().any(is_denial);
    let said: Vec<&str> = affirmed(tokens).filter(|word| *word != "can").collect();
    match said[..] {
        ["i", "is", diet] if !denies => DIETS.iter().find(|(name, _)| *name == diet).map(|(_, kinds)| kinds.to_vec()),
        ["i", "eat" | "drink", kind] if denies => Some(vec![kind]),
        _ => None,
    }
}

/// The keys of what it says that the user likes, eats, or does not eat.
pub(super) fn links(tokens: &[Token]) -> Vec<String> {
    let liked = taste(tokens).map(|(object, _)| format!("taste {}", object.join(" ")));
    let kinds = |food| FOODS.iter().map(|(kind, _)| *kind).filter(move |kind| is_of(food, kind)).chain([food]);
    let food = eaten(tokens).into_iter().flat_map(kinds).map(|kind| format!("food {kind}"));
    let out = refused(tokens).into_iter().flatten().map(|kind| format!("food {kind}"));
    liked.into_iter().chain(food).chain(out).collect()
}

/// Whether it is no more than a diet by its name.
pub(super) fn is_diet(tokens: &[Token]) -> bool {
    let said: Vec<&str> = affirmed(tokens).collect();
    matches!(said[..], ["i", "is", diet] if DIETS.iter().any(|(name, _)| *name == diet))
}
