"""Facts for `newest.py`, all of them seen: LOOKED_AT while rules were written, KEPT_BACK to quote figures up to 0.6.0."""

from __future__ import annotations

# A question, ways to say its value (the first is how it is told first), values.
# {P}: my, Anna's; {I}: I, Anna; {me}: me, Anna; {do}, {am}: their verbs; {v}: the value.
Row = tuple[str, tuple[str, ...], tuple[str, ...]]

LOOKED_AT: dict[str, Row] = {
    "framework": (
        "Which web framework {do} {I} use?",
        (
            "{P} web framework is {v}.",
            "{I} ported the site to {v}.",
            "{I} rebuilt the web app with {v}.",
            "{P} new framework is {v}.",
            "{I} dropped the old framework in favour of {v}.",
            "{I} build websites with {v} these days.",
        ),
        ("Django", "Rails", "Laravel", "Phoenix", "Svelte", "Spring", "Express"),
    ),
    "landlord": (
        "Who is {P} landlord?",
        (
            "{P} landlord is {v}.",
            "{P} flat was sold to {v}, who is the landlord now.",
            "{P} new landlord is {v}.",
            "{I} pay the rent to {v} now.",
            "{v} bought the building and became {P} landlord.",
            "{P} landlord changed, it is {v}.",
        ),
        ("Petrov", "Costa", "Yamada", "Larsen", "Moreau", "Khan", "Weber"),
    ),
    "breakfast": (
        "What {do} {I} eat for breakfast?",
        (
            "{P} usual breakfast is {v}.",
            "{I} eat {v} for breakfast now.",
            "{I} replaced breakfast with {v}.",
            "{P} breakfast became {v}.",
            "{I} have {v} in the mornings lately.",
            "{I} swapped the old breakfast for {v}.",
        ),
        ("porridge", "pancakes", "muesli", "scrambled eggs", "toast", "yoghurt", "waffles"),
    ),
    "instrument": (
        "Which instrument {do} {I} play?",
        (
            "{P} instrument is the {v}.",
            "{I} switched to the {v}.",
            "{I} sold the old instrument and bought a {v}.",
            "{I} take lessons on the {v} now.",
            "{P} new instrument is the {v}.",
            "{I} gave up the other one and play the {v}.",
        ),
        ("piano", "violin", "cello", "clarinet", "drums", "oboe", "trumpet"),
    ),
    "insurance": (
        "Who {do} {I} have health insurance with?",
        (
            "{P} health insurance is with {v}.",
            "{I} changed the health insurance to {v}.",
            "{P} new insurer is {v}.",
            "{I} am insured by {v} now.",
            "{I} left the old insurance for {v}.",
            "{P} health plan moved to {v}.",
        ),
        ("Allianz", "Aetna", "Cigna", "Barmer", "Sanitas", "Helsana", "Bupa"),
    ),
    "commute": (
        "How {do} {I} get to work?",
        (
            "{I} get to work by {v}.",
            "{I} commute by {v} now.",
            "{P} way to work is by {v} these days.",
            "{I} started going to the office by {v}.",
            "{I} switched from that to the {v} for commuting.",
            "{P} commute changed to {v}.",
        ),
        ("bus", "bike", "train", "tram", "scooter", "ferry", "car"),
    ),
    "roommate": (
        "Who is {P} roommate?",
        (
            "{P} roommate is {v}.",
            "{v} moved in as {P} roommate.",
            "{P} new roommate is called {v}.",
            "{I} share the flat with {v} now.",
            "{P} roommate left and {v} took the room.",
            "{I} live together with {v} now.",
        ),
        ("Tariq", "Ines", "Olga", "Felix", "Mei", "Jonas", "Salma"),
    ),
    "cloud": (
        "Which cloud provider {do} {I} host on?",
        (
            "{P} cloud provider is {v}.",
            "{I} migrated the servers to {v}.",
            "{I} host everything on {v} now.",
            "{P} new cloud is {v}.",
            "{I} closed the old account and run it all on {v}.",
            "{P} hosting moved over to {v}.",
        ),
        ("AWS", "Azure", "Hetzner", "Linode", "Scaleway", "OVH", "Vultr"),
    ),
    "color": (
        "What is {P} favourite colour?",
        (
            "{P} favourite colour is {v}.",
            "{I} like {v} best now.",
            "{P} taste changed, {v} is the colour {I} like most.",
            "{P} new favourite colour is {v}.",
            "{I} went off that colour and love {v}.",
            "{P} colour of choice became {v}.",
        ),
        ("teal", "crimson", "olive", "navy", "ochre", "lilac", "amber"),
    ),
    "dentist": (
        "Who is {P} dentist?",
        (
            "{P} dentist is Dr. {v}.",
            "{I} changed dentists to Dr. {v}.",
            "Dr. {v} looks after {P} teeth now.",
            "{P} new dentist is Dr. {v}.",
            "{I} go to Dr. {v} for {P} teeth these days.",
            "{P} dentist retired and Dr. {v} replaced them.",
        ),
        ("Brandt", "Nguyen", "Rossi", "Adeyemi", "Sato", "Fischer", "Dubois"),
    ),
}

KEPT_BACK: dict[str, Row] = {
    "university": (
        "Which university {do} {I} study at?",
        (
            "{P} university is {v}.",
            "{I} transferred to {v}.",
            "{I} enrolled at {v} this term.",
            "{P} new university is {v}.",
            "{I} continue the degree at {v}.",
            "{I} left the old university for {v}.",
        ),
        ("Leiden", "Uppsala", "Bologna", "Heidelberg", "Coimbra", "Leuven", "Aarhus"),
    ),
    "therapist": (
        "Who is {P} physiotherapist?",
        (
            "{P} physiotherapist is {v}.",
            "{I} changed the physiotherapist to {v}.",
            "{P} sessions of physiotherapy are with {v} now.",
            "{v} took over {P} physiotherapy.",
            "{P} new physiotherapist is {v}.",
            "{I} see {v} for physiotherapy these days.",
        ),
        ("Hanna", "Diego", "Mirela", "Anton", "Priya", "Goran", "Louise"),
    ),
    "laptop": (
        "Which laptop {do} {I} work on?",
        (
            "{P} laptop is a {v}.",
            "{I} got a {v} as a new laptop.",
            "{I} replaced the laptop with a {v}.",
            "{P} work machine became a {v}.",
            "{I} returned the old laptop and took a {v}.",
            "{P} new laptop is a {v}.",
        ),
        ("ThinkPad", "MacBook", "Framework", "Zenbook", "Surface", "Latitude", "Swift"),
    ),
    "sport": (
        "Which sport {do} {I} do?",
        (
            "{P} sport is {v}.",
            "{I} took up {v} instead.",
            "{I} train for {v} now.",
            "{P} new sport is {v}.",
            "{I} stopped the old sport and do {v}.",
            "{I} changed to {v} this year.",
        ),
        ("rowing", "judo", "tennis", "fencing", "swimming", "handball", "archery"),
    ),
    "newspaper": (
        "Which newspaper {do} {I} read?",
        (
            "{P} newspaper is the {v}.",
            "{I} subscribed to the {v}.",
            "{I} cancelled the old paper and read the {v}.",
            "{P} daily paper became the {v}.",
            "{I} get the {v} every morning now.",
            "{P} new subscription is to the {v}.",
        ),
        ("Guardian", "Monde", "Figaro", "Standard", "Herald", "Tribune", "Chronicle"),
    ),
    "supermarket": (
        "Where {do} {I} buy groceries?",
        (
            "{I} buy groceries at {v}.",
            "{P} supermarket is {v} now.",
            "{I} changed supermarkets to {v}.",
            "{I} do the grocery shopping at {v} these days.",
            "{P} groceries come from {v} now.",
            "{I} switched to {v} for groceries.",
        ),
        ("Lidl", "Rewe", "Tesco", "Carrefour", "Migros", "Mercadona", "Spar"),
    ),
    "dance": (
        "Which course {do} {I} take on Thursdays?",
        (
            "{P} Thursday course is {v}.",
            "{I} changed the Thursday course to {v}.",
            "{I} signed up for {v} on Thursdays.",
            "{P} course on Thursdays became {v}.",
            "{I} attend {v} every Thursday now.",
            "{P} new course on Thursdays is {v}.",
        ),
        ("yoga", "ceramics", "Spanish", "drawing", "tango", "sewing", "improv"),
    ),
    "carrier": (
        "Which mobile carrier {do} {I} use?",
        (
            "{P} mobile carrier is {v}.",
            "{I} moved the number to {v}.",
            "{P} phone contract is with {v} now.",
            "{I} changed carriers to {v}.",
            "{P} new mobile provider is {v}.",
            "{I} cancelled the contract and went to {v}.",
        ),
        ("Vodafone", "Orange", "Telia", "Swisscom", "Verizon", "Telenor", "Movistar"),
    ),
    "vet": (
        "Which vet {do} {I} take the cat to?",
        (
            "{P} cat's vet is {v}.",
            "{I} take the cat to {v} now.",
            "{P} new vet is {v}.",
            "{I} changed vets to {v} for the cat.",
            "{v} looks after {P} cat now.",
            "{I} registered the cat with {v}.",
        ),
        ("Dr. Holm", "Dr. Reyes", "Dr. Blum", "Dr. Kaya", "Dr. Osei", "Dr. Lund", "Dr. Marsh"),
    ),
    "streaming": (
        "Which streaming service {do} {I} watch?",
        (
            "{P} streaming service is {v}.",
            "{I} subscribed to {v} for films.",
            "{I} cancelled the old service and watch {v}.",
            "{P} new streaming service is {v}.",
            "{I} stream everything on {v} now.",
            "{P} film nights are on {v} these days.",
        ),
        ("Netflix", "Mubi", "Hulu", "Disney", "Crunchyroll", "Joyn", "Britbox"),
    ),
}
