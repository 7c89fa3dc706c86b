# ruff: noqa: SIM905  these are words and lines, easier to read and to change than lists of them
"""What `texts.everyday` fills with words: things that people tell an assistant, and what they ask it later. Written for this purpose."""

NAMES = """Aaron Abigail Adam Aisha Alan Alice Amanda Amir Ana Andrew Angela Anita Anna Anthony Ben Beth Brian Carla Carlos Carol Chen
Chloe Chris Clara Daniel David Deborah Diana Diego Dylan Elena Emily Emma Eric Ethan Eva Fatima Felix Fiona Frank Gabriel George Grace
Hannah Harry Helen Henry Hiroshi Ian Ines Isaac Ivan Jack Jacob James Jane Jasmine Jason Jenny Jessica Jonas Jordan Joseph Julia Karen
Kate Keiko Kevin Kim Laura Leah Leo Lily Linda Lisa Lucas Lucy Luis Luna Maria Mark Martin Matt Maya Mia Michael Miguel Mina Mohammed
Monica Nadia Natalie Nathan Nick Nina Noah Nora Olga Oliver Olivia Omar Oscar Pablo Paul Peter Priya Rachel Rebecca Robert Rosa Ruth Ryan
Sam Sara Scott Sofia Stefan Steve Susan Tara Thomas Tim Tom Tony Victor Wei William Yuki Zoe""".split()
TIMES = """yesterday|today|tomorrow|last week|last month|last year|last night|last summer|last winter|last Friday|last Tuesday|next week|
next month|next Saturday|this morning|this weekend|this summer|two days ago|three weeks ago|two years ago|in January|in March|in May 2023|
in June|in August|on 5 July, 2023|in October|in December 2022|a few years ago|recently|on Monday|on Sunday|the other day|the week before|
since 2016|when I was a kid|for my birthday|every morning|every weekend|at night""".replace("\n", "").split("|")
SERVICES = """payments-api auth-service billing search-index user-db api-gateway scheduler mailer inventory checkout web-frontend
data-pipeline cache-proxy notification-worker report-builder""".split()
TOOLS = """Python Rust Go TypeScript Java PostgreSQL MySQL SQLite Redis Kafka Docker Kubernetes Terraform GitHub GitLab Jenkins React
Django FastAPI Flask pytest Grafana Prometheus Elasticsearch MongoDB Nginx AWS Slack Notion Jira Figma Excel""".split()
ENVIRONMENTS = "production|staging|the test environment|prod-eu-west-1|us-east-1|the CI pipeline|the development cluster".split("|")

STATEMENTS = """I went to the {place} with my {person} {time}.
I bought a new {thing} {time} and I love it!
I've been learning about {topic} lately, it's so {adjective}.
My {person} gave me a {thing} {time}.
We had {food} and {food} for dinner {time}.
I'm allergic to {food}, so I never eat {food}.
I adopted a {animal} {time}, its name is {name}.
My favourite food is {food}, and I also like {food}.
I moved to a {place} near the {place} {time}.
I started a new job as a {person} {time}.
I'm thinking about becoming a {person} because I care about {idea}.
Hey {name}! I just got back from a {event}, it was {adjective}!
Wow, {name}, that sounds {adjective}! How did the {event} go?
That's a {adjective} {thing}, {name}! Where did you get it?
Thanks, {name}! Your {feeling} means a lot to me.
I felt so much {feeling} after the {event} {time}.
{name} told me about the {event} {time}.
I joined a {group} that helps people with {state}.
I've been practising {act} for a few years now, it helps me relax.
I signed up for a class on {topic} {time}.
We took the kids to the {place} {time} and saw a {animal}.
My {person} and I went on a trip to the {place}, and the {thing} was {adjective}.
I'm reading a book about {topic} and {idea}.
I lost my {thing} at the {place} {time}.
The doctor said that my {state} is getting better.
Please remember that I prefer {food} to {food}.
I don't like {act}, I'd rather {verb}.
We decided to {make} a {thing} for the {event}.
The meeting with {name} about the {topic} is {time}.
My {person} {name} works as a {person} in a {group}.
I want to {verb} more often and {think} less about {idea}.
I used to {move} to the {place} every day.
I have {number} photos of the {animal} and the {plant}.
We planted a {plant} in the garden {time}.
{name} has two {animal}s and a {animal}.
I won the {event} {time}, I'm so proud!
I'm nervous about the {event}, but {name} supports me.
It was {adjective} to {verb} with my {group}.
My {person} taught me to {make} {food}.
We watched a film about a {person} and a {animal}.
I'm saving money for a {thing}.
The {group} supports {idea} and {act}.
I broke my {thing} during the {event}, so I couldn't {verb}.
Yeah, {act} is a great way to deal with {feeling}.
I made a {thing} out of {plant} and gave it to {name}.
A photo of a {adjective} {thing} on a {thing}.
A {person} holding a {animal} in front of a {place}.
The {service} service listens on port {number} in {environment}.
We decided to use {tool} instead of {tool} for the {service}.
The {service} deploy failed {time} because of a {adjective} {thing}.
{name} fixed the timeout in {service} {time}.
Never deploy the {service} on a Friday.
The password for {service} is rotated {time}.
We migrated the {service} from {tool} to {tool} {time}.
Always run the {tool} tests before you merge.
The user prefers {tool} for {topic}.
The error in {environment} was caused by the {service} running out of memory.
{name} is the owner of the {service} and reviews its changes.
The budget for the {event} is {number} dollars.
My flight to the {place} leaves {time} at {number}.
I live in a {place} with my {person} and our {animal}.
I work on {topic} with {tool} and {tool}.
I can't {verb} without my {thing}.
I'm feeling {adjective} {time}, the {event} was hard.
My goal is to {make} a {thing} and {verb} it.
He said that the {thing} was {adjective} and that he would {verb} it.
She asked whether the {group} could {make} the {thing} {time}.
They {verb} the {thing} and {move} to the {place}.
The {person} was {adjective} about the {act}.
A drawing of a {thing} beside a {plant}.
I collected {number} dollars for the {group} at the {event}.""".split("\n")

QUESTIONS = """What did {name} buy {time}?
When did {name} go to the {place}?
Where did {name} get the {thing}?
Who gave {name} the {thing}?
What is {name}'s favourite {thing}?
What kind of {food} does {name} like?
What does {name} do to relax after {act}?
Why did {name} {verb} the {thing}?
How long has {name} been practising {act}?
Which {animal} does {name} have?
How many {animal}s does {name} have?
What are the names of {name}'s {animal}s?
What is {name} allergic to?
When did {name} join the {group}?
What did the {group} do {time}?
How did {name} feel about the {event}?
What does {name} think about {idea}?
Where did {name} move from?
What job does {name} want to have?
What book did {name} read {time}?
What did {name} and {name} talk about {time}?
What did {name} say about the {event}?
When is the {event} that {name} is planning?
What did {name} make for the {event}?
Which {place} did {name} visit {time}?
What has {name} {verb} {time}?
What is the name of the {group} that {name} joined?
What does the {person} {verb}?
How did {name} {make} the {thing}?
What did I say about the {thing}?
What did I tell you about my {person}?
Do I like {food}?
Which {thing} do I prefer?
Where do I live?
When is my {event}?
What's my {person}'s name?
Which port does {service} use in {environment}?
Why did the {service} deploy fail {time}?
Who owns the {service}?
Which database did we choose for the {service}?
What did we decide about {tool}?
Which language for {topic}?
What caused the outage in {environment}?
How do I run the {tool} tests?
What must I never do with the {service}?
How much is the budget for the {event}?
When does my flight to the {place} leave?
What are {name}'s plans for {time}?
What kind of {act} does {name} enjoy?
What did {name} learn from the {event}?
What was {adjective} about the {thing}?
What's a {thing} for?
How do you {verb} a {thing}?
Is {name} a {person}?
What advice did {name} give about {topic}?
How often does {name} {verb}?
Who did {name} meet at the {place}?
What is {name} afraid of?
Has {name} ever been to a {event}?
What is in the {thing} of {name}?
How old is the {animal} of {name}?""".split("\n")
