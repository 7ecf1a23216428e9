"""Words of English: those that say little of what is looked for, and forms that no ending makes."""

__all__ = ["FUNCTION_WORDS", "IRREGULAR"]

# Where a person writes nothing else, they are looked for all the same.
_SAY_LITTLE = """
a an the this that these those there here it its it's and or but nor so if then than as of at by for from in
into on onto off out over to up down with without within about after before during between through under until
against again further once only own same too very just also not no any some all both each few more most other
such i i'm i've i'd i'll me my mine myself we we're us our ours you you're your yours he him his she her hers
they they're them their theirs who whom whose which what what's where where's when when's why how how's am is
isn't are aren't was wasn't were weren't be been being do don't does doesn't did didn't done doing have haven't
has hasn't had hadn't having will won't would wouldn't shall should can can't could couldn't may might must let
let's get got please tell told say said says remember mention mentioned talk talked talking ask asked know ever
yet still already many much kind sort anything something someone anyone now currently nowadays anymore lately
actually use uses used using again well ok okay yes right really
"""
FUNCTION_WORDS = frozenset(_SAY_LITTLE.split())

# Groups of forms of one word, or of words for one thing, also as they are written elsewhere.
IRREGULAR = """
go goes went gone going | buy buys bought buying | bring brings brought | think thinks thought |
catch catches caught | teach teaches taught | fight fights fought | seek seeks sought | tell tells told |
sell sells sold | say says said | make makes made | making | take takes took taken taking |
give gives gave given giving | get gets got gotten getting | come comes came coming | become becomes became |
see sees saw seen seeing | eat eats ate eaten | drink drinks drank drunk | drive drives drove driven | driving |
write writes wrote written writing | ride rides rode ridden | rise rises rose risen |
choose chooses chose chosen | speak speaks spoke spoken | break breaks broke broken | steal steals stole stolen |
wake wakes woke woken | freeze froze frozen | begin begins began begun | sing sings sang sung |
swim swims swam swum | run runs ran running | win wins won winning | sit sits sat | meet meets met meeting |
feed feeds fed | lead leads led | read reads reading | feel feels felt | keep keeps kept | sleep sleeps slept |
leave leaves left leaving | mean means meant | send sends sent | spend spends spent | lend lends lent |
build builds built | lose loses lost losing | find finds found | hold holds held | stand stands stood |
understand understood | pay pays paid | lay lays laid | hear hears heard | know knows knew known |
grow grows grew grown | throw throws threw thrown | fly flies flew flown flying flight flights |
draw draws drew drawn | wear wears wore worn | tear tears tore torn | fall falls fell fallen |
forget forgets forgot forgotten | hide hides hid hidden | bite bites bit bitten | shoot shoots shot |
teach teaches taught teacher teachers | sweep swept | weep wept | creep crept | deal deals dealt |
dream dreams dreamt dreamed | learn learns learnt learned learning | burn burns burnt burned |
spell spells spelt spelled | hang hangs hung | dig digs dug | stick sticks stuck | strike struck | swing swung |
bend bent | bind bound | grind ground | wind wound | light lit lighted | shine shone | child children |
person persons people | man men | woman women | foot feet | tooth teeth | mouse mice | goose geese | life lives |
wife wives | knife knives | leaf leaves | half halves | shelf shelves | wolf wolves | thief thieves | datum data |
analysis analyses | good better best | bad worse worst | die dies died dying death |
choice choices choose chose chosen | gift gifts gave give | colour colours color colors |
favourite favourites favorite favorites | neighbour neighbours neighbor neighbors |
centre centres center centers | grey gray | theatre theater | behaviour behavior |
licence license licences licenses | programme program programmes programs |
organise organised organize organized organisation organization |
cancel cancels cancelled canceled cancelling canceling cancellation |
travel travels travelled traveled travelling traveling | photo photos photograph photographs picture pictures |
mum mom mother | dad father | grandma grandmother | grandpa grandfather | kid kids child children |
phone phones telephone | bike bikes bicycle bicycles | tv television | car cars | flat flats apartment |
apartments | birthday birthdays bday | appointment appointments appt | information info |
document documents doc docs | repository repositories repo repos |
configuration configurations config configure configured | database databases db |
marry marries married marriage wedding | divorce divorced | begin start starts started starting |
cost costs price prices | one 1 once | two 2 twice | three 3 | four 4 | five 5 | six 6 | seven 7 | eight 8 | nine 9 |
ten 10 | eleven 11 | twelve 12 | january jan | february feb | march mar | april apr | june jun | july jul |
august aug | september sep sept | october oct | november nov | december dec | monday mon | tuesday tue tues |
wednesday wed | thursday thu thurs | friday fri | saturday sat | sunday sun |
allergy allergies allergic | dentist dentists dental | doctor doctors physician dr | lawyer lawyers attorney |
movie movies film films | sofa couch | fridge refrigerator | holiday holidays vacation vacations |
purchase purchased purchases bought buy | rent rents rented rental lease | gift gifts present presents |
repair repairs repaired fix fixes fixed | delete deleted deletes deletion remove removed removes removal |
wife wives spouse | husband husbands spouse | email emails emailed mail mails | euro euros eur |
dollar dollars usd | ill illness sick sickness | boss manager managers | baby babies newborn |
decide decides decided deciding decision decisions | conclude concluded concludes conclusion conclusions |
explain explains explained explanation explanations | describe described describes description descriptions |
subscribe subscribed subscribes subscription subscriptions | receive received receives receipt receipts |
permit permits permitted permission permissions | submit submits submitted submission submissions |
extend extended extends extension extensions | expand expanded expands expansion | admit admitted admission |
apply applies applied applying application applications | lose loss losses | sell sale sales | prove proved proof |
believe believes believed belief beliefs | weigh weighs weighed weight weights | high height heights |
long length lengths | strong strength strengths | deep depth | wide width | advise advised advises advice |
injure injured injury injuries | recover recovered recovers recovery | deliver delivered delivers delivery deliveries |
discover discovered discovers discovery discoveries | enter entered enters entry entries | speak speech speeches |
approve approved approves approval approvals | renew renewed renews renewal renewals | grow growth |
prefer prefers preferred preference preferences | agree agrees agreed agreement agreements |
pay pays payment payments | insure insured insures insurance | differ differs different difference differences |
propose proposed proposes proposal proposals | arrive arrives arrived arrival arrivals | sing song songs singer |
sign signs signed signature signatures | fail fails failed failure failures | depart departs departed departure |
replace replaced replaces replacement replacements | manage managed manages management | close closes closed closure |
announce announced announces announcement | develop developed develops development | health healthy |
retire retired retires retirement | invest invested invests investment investments | treat treated treats treatment |
improve improved improves improvement improvements | measure measured measures measurement measurements |
settle settled settles settlement | engage engaged engagement | perform performed performs performance |
maintain maintained maintains maintenance | refer referred refers reference references | born birth
"""
