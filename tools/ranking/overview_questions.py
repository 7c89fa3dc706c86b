"""Questions that ask for what lies in a time, or for all about the user, and questions that only look like them.

They were written before the rules (`recall/overview`), by their author. DEVELOPED was in view while the rules were written. Of KEPT_BACK
only the figures were looked at.

A question of TIME is asked on Saturday, 2026-06-20, at 18:00 UTC, and has the days that answer it. One of USER is answered by what the user
is. One of OTHERS has something to look for, or asks for no time that is over, and is searched as before.
"""

TIME_DEVELOPED: dict[str, tuple[str, ...]] = {
    "What did I do yesterday?": ("06-19",),
    "What did I tell you yesterday?": ("06-19",),
    "What happened in May?": ("05-04", "05-24", "05-26"),
    "What did I say in May?": ("05-04", "05-24", "05-26"),
    "What did we talk about on 24 May?": ("05-24",),
    "What did I do last week?": ("06-09", "06-13"),
    "what was I up to last Saturday": ("06-13",),
    "Do you remember what we discussed on Thursday?": ("06-18",),
    "Tell me what happened between 20 May and 30 May.": ("05-24", "05-26"),
    "Can you recap this week for me?": ("06-15", "06-18", "06-19", "06-20"),
    "What have I been doing since Monday?": ("06-15", "06-18", "06-19", "06-20"),
}
TIME_KEPT_BACK: dict[str, tuple[str, ...]] = {
    "Where was I on 24 May?": ("05-24",),
    "What did I get up to on the 13th?": ("06-13",),
    "What happened on 2026-05-26?": ("05-26",),
    "Summarize what I told you last week": ("06-09", "06-13"),
    "Hey, what did we chat about two days ago?": ("06-18",),
    "what all did I mention in the last 7 days?": ("06-13", "06-15", "06-18", "06-19", "06-20"),
    "What were we talking about last month?": ("05-04", "05-24", "05-26"),
    "Please list everything I did in May 2026": ("05-04", "05-24", "05-26"),
    "What went on this week?": ("06-15", "06-18", "06-19", "06-20"),
    "Remind me what I said on Monday": ("06-15",),
    "How was my day yesterday?": ("06-19",),
}
USER_DEVELOPED = (
    "What do you remember about me?",
    "summarise what you know about me",
    "what do you know about me?",
    "Tell me everything you have stored about me.",
)
USER_KEPT_BACK = (
    "What have you learned about me so far?",
    "who am I?",
    "Can you give me a summary of everything you know about me?",
    "Describe me.",
)
OTHERS_DEVELOPED = (
    "What did I buy in May?",
    "What did Ana say yesterday?",
    "Who fixed the sink last week?",
    "What do you know about my bicycle?",
    "What date was yesterday?",
    "Yesterday I had dinner with Ana.",
    "What did we decide about the lease on Thursday?",
    "What do you know about Marco?",
    "Does he remember me?",
    "What did I do?",
)
OTHERS_KEPT_BACK = (
    "What museum did we visit last week?",
    "How long did my run take on 24 May?",
    "What happened to my laptop in May?",
    "What did I tell you about Porto last week?",
    "Remind me to call Ana tomorrow.",
    "What do you know about me and Marco?",
    "Is there anything in my calendar with Ben this week?",
    "What is today?",
    "What do you remember about my sister?",
    "I told you about it last week.",
)
