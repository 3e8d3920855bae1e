"""English word lists for recognising names: what a capital letter alone cannot tell.

None of them claims to be complete. A list of what is *not* a name errs on the side of silence: an entity that is
missed costs little, since the words are indexed anyway; one that is wrong ties strangers together.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GIVEN_NAMES = _words(
    """
    aaron abby abigail adam adrian agnes ahmed aidan aisha alan albert alejandro alex alexa alexander alexandra alexis
    alfred ali alice alicia alison allen alyssa amanda amber amelia amina amir amy ana anastasia andre andrea andreas
    andrew andy angela angelina anita ann anna anne annie anthony antonio anya archie ariana arjun arthur arun ashley
    astrid audrey austin ava barbara beatrice becky bella ben benjamin bernard beth betty bianca bill billy bob bobby
    boris brad bradley brandon brenda brian bridget bruce bruno bryan caleb calvin cameron camila carl carla carlos carmen
    carol carolina caroline carolyn carrie catherine cathy cecilia charles charlie charlotte chen chloe chris christian
    christina christine christopher claire clara claudia colin connor craig crystal cynthia daisy damian dan dana daniel
    daniela danielle danny darren dave david dawn dean deborah debra denise dennis derek diana diane diego dimitri dmitri
    dominic don donald donna dora doris dorothy doug douglas dylan eddie edgar edith eduardo edward edwin eileen elaine
    eleanor elena eli elijah elizabeth ella ellen ellie elsa emil emily emma enrique eric erica erik erika erin ethan eugene
    eva evan evelyn fatima felix fernando fiona florence frances francesca francis francisco frank fred freddie frederick
    gabriel gabriela gabrielle gareth gary gavin gemma geoff george georgia gerald gerard gina giovanni giulia glen gloria
    gordon grace graham greg gregory greta guillaume gus gustavo guy hana hank hannah hans harold harriet harry harvey
    hassan hazel heather hector heidi helen helena henrik henry holly howard hugh hugo ian ibrahim igor ines ingrid irene
    iris isaac isabel isabella ivan jack jackie jackson jacob jacqueline jade jaime jake james jamie jan jane janet janice
    jasmine jason javier jay jean jeff jeffrey jen jenna jennifer jenny jeremy jerome jerry jesse jessica jill jim jimmy jin
    joan joanna joanne joe joel johan johanna john johnny jon jonas jonathan jordan jorge jose joseph josephine josh joshua
    joyce juan juanita judith judy julia julian juliana julie juliet jun justin kai karen karim karl kate katherine kathleen
    kathryn kathy katie katrina kayla keith kelly ken kenji kenneth kevin khalid kim kimberly kirsten klaus kristen kristin
    kurt kyle larry lars laura lauren laurence lea leah lee leila lena leo leon leonard leslie lewis li liam lily linda lisa
    liu lois lola lorenzo lorraine louis louise luc luca lucas lucia lucy luis luisa lukas luke luna lydia lynn madeleine
    maggie malcolm manuel marc marco marcus margaret maria marie marilyn mario marion martha martin martina mary mateo
    matt matteo matthew maureen maurice max maxim maya megan mei mel melanie melissa melvin mia michael michelle miguel
    mikael mike mikhail mila miles min ming miranda miriam mohamed mohammed molly monica muhammad nadia nancy naomi natalia
    natalie natasha nate nathan nathaniel neil nicholas nick nicola nicolas nicole nigel nikita nikolai nina noah noor nora
    norman oleg oliver olivia omar oscar otto owen pablo pamela parker pat patricia patrick paul paula pedro penny peter
    petra phil philip philippe phoebe pierre piotr priya rachel rafael raj rajesh ralph ravi ray raymond rebecca reggie
    renee ricardo richard rick riley rita rob robert roberta roberto robin rodrigo roger rohan roman ron ronald rosa rose
    rosie ross roy ruben ruby russell ruth ryan sabrina sally sam samantha samir samuel sandra sanjay santiago sara sarah
    sasha scott sean sebastian sergei sergio seth shannon sharon shawn sheila shirley simon simone sofia sonia sophia sophie
    stacy stan stanley stefan stella stephanie stephen steve steven stuart sue sunil susan suzanne sven sylvia tamara tanya
    tara ted teresa terry theo theodore theresa thomas tiffany tim timothy tina toby todd tom tommy tony tracy travis trevor
    tyler umar ursula valentina valeria valerie vanessa vera veronica victor victoria vijay vikram vincent viola violet
    virginia vivian vladimir walter wang wanda warren wayne wei wendy will william willow xavier xin yan yasmin ying yuki
    yusuf yvonne zach zachary zara zhang zhao zoe
    """
)

PLACES = _words(
    """
    afghanistan africa albania algeria america amsterdam ankara antarctica argentina arizona armenia asia athens atlanta
    auckland austin australia austria baghdad bahrain baltimore bangalore bangkok bangladesh barcelona bavaria beijing
    beirut belarus belfast belgium belgrade berlin bolivia bordeaux bosnia boston brasilia brazil brisbane bristol britain
    brooklyn brussels bucharest budapest bulgaria cairo calgary california cambodia cambridge cameroon canada canberra
    caracas chengdu chennai chicago chile china cologne colombia colorado copenhagen croatia cuba cyprus dallas damascus
    delhi denmark denver detroit dubai dublin ecuador edinburgh egypt england estonia ethiopia europe finland
    florence florida france frankfurt geneva germany ghana glasgow greece greenland guangzhou hamburg hangzhou hanoi havana
    hawaii helsinki houston hungary iceland illinois india indonesia iran iraq ireland israel istanbul italy jakarta jamaica
    japan jerusalem johannesburg jordan kabul kansas kazakhstan kentucky kenya kiev korea kosovo krakow kuwait kyiv kyoto
    lagos laos latvia lebanon leeds leipzig libya lima lisbon lithuania liverpool london luxembourg lyon madrid malaysia
    malta manchester manhattan manila maryland massachusetts melbourne mexico miami michigan milan minneapolis minnesota
    missouri moldova monaco mongolia montana montenegro montreal morocco moscow mozambique mumbai munich myanmar nairobi
    namibia nanjing naples nashville nepal netherlands nevada nicaragua nigeria norway oakland ohio oklahoma oregon osaka
    oslo ottawa oxford pakistan palestine panama paraguay paris peking pennsylvania perth peru philadelphia philippines
    phoenix pittsburgh poland portland portugal prague qatar quebec reykjavik rome romania rotterdam russia rwanda sacramento
    salzburg santiago scotland seattle senegal seoul serbia seville shanghai shenzhen siberia singapore slovakia slovenia
    somalia spain stockholm stuttgart sudan sweden switzerland sydney syria taipei taiwan tanzania tehran tennessee texas
    thailand tibet tokyo toronto tunisia turin turkey u.k. u.s. u.s.a. uganda uk ukraine uruguay usa utah uzbekistan vancouver venezuela
    venice vermont vienna vietnam wales warsaw washington wisconsin wuhan wyoming xiamen xian yemen zambia zimbabwe zurich
    """
)

PLACES_OF_WORDS = frozenset(
    name.strip()
    for name in [
        "\n    new york",
        " new york city",
        " new jersey",
        " new mexico",
        " new orleans",
        " new hampshire",
        " new zealand",
        " new delhi",
        " new england",
        "\n    los angeles",
        " las vegas",
        " san francisco",
        " san diego",
        " san jose",
        " san antonio",
        " salt lake city",
        " hong kong",
        " sri lanka",
        " costa rica",
        "\n    puerto rico",
        " el salvador",
        " south korea",
        " north korea",
        " south africa",
        " south america",
        " north america",
        " latin america",
        "\n    saudi arabia",
        " united states",
        " united states of america",
        " united kingdom",
        " united arab emirates",
        " european union",
        "\n    czech republic",
        " buenos aires",
        " rio de janeiro",
        " sao paulo",
        " mexico city",
        " cape town",
        " tel aviv",
        " abu dhabi",
        " kuala lumpur",
        "\n    ho chi minh city",
        " north carolina",
        " south carolina",
        " north dakota",
        " south dakota",
        " west virginia",
        " rhode island",
        " middle east\n    ",
    ]
)

CALENDAR = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
    mon tue tues wed thu thur thurs fri sat sun
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    spring summer autumn fall winter christmas easter thanksgiving halloween
    am pm gmt utc cet est edt pst pdt cst
    """
)

NO_NAMES = _words(
    """
    i i'm i've i'll i'd ok okay tv ps fyi lol omg asap diy btw imo imho faq todo note warning tip hint id ids ceo cto cfo hr
    pdf etc aka vs re url urls api apis html css json xml sql http https png jpg csv yaml cpu gpu ram usb gui cli sdk ide
    english chinese french german spanish italian japanese korean russian american british european asian african indian
    latin greek dutch portuguese arabic hebrew mexican canadian australian western eastern northern southern
    christian muslim jewish buddhist catholic god lord mr mrs ms dr prof sir madam mom mum dad mommy daddy grandma grandpa
    us faqs app apps pc suv dna vip ktv ppt gdp cpi ipo etf gps led lcd oled atm
    user assistant human system bot agent ai admin q a b c d e x y z ii iii iv
    north south east west
    """
)
"""Written with a capital, yet not the name of anything a memory is about."""

COMMON = _words(
    """
    about absolutely according accordingly actually add additionally adjust after afterwards again agree ahead all allow
    almost along already alright also alternatively although always amazing among analyze and another answer any anybody
    anyone anything anyway apart apparently appendix apply appreciate approach are art article as ask assume assuming at
    attempt aunt authors available avoid aw awesome aww baby back background bad based basic basically be because become
    before begin behind being below benefits beside besides best better between beware beyond big both break brief bring
    brother budget build business but buy by bye call can cannot care careful catch cause certainly change chapter
    chat check choose class clean clear clearly click close code collect come coming common community company compare
    complete conclusion conduct configure confirm congrats congratulations connect consequently consider contact content
    continue convert cook cool copy correct could count cousin create critical curious current currently customize cut daily
    damn data date day days dear decide deep define definitely delete deploy describe description design despite determine
    develop did different dinner discover discuss do document does dog don't done double down download draft draw dream
    dude due during each early easy eat edit education effective efficient either else email emphasize enable encourage
    end engage enjoy enough ensure enter especially establish estimate evaluate even eventually ever every everybody everyone
    everything everywhere evidently exactly example excellent except exciting execute exercise expand expect experience explain
    explore extra extract fair family fantastic far fast father feature features feel few figure file final finally find
    fine finish first fix focus follow following food for fortunately found foundation free friend friends from fun function
    funny further furthermore future gather general generally generate get getting give given glad go goal goals going
    gonna good goodbye goodness gosh got gotcha gotta gradually grandfather grandmother great group guess guide had haha
    half hang happily happy hard has have having he health hear heard hello help helpful hence her here here's hers hey hi
    high highly hire his hold home honestly hope hopefully host house how however huge hundreds husband identify if image
    imagine immediately implement important improve in include including income increase incredible indeed initially input
    insert inside inspect install instead integrate interesting internal into introduction invest invite is isn't issue issues
    it it's its itself job join journal just keep key kids kind know last lastly late lately later launch learn least leave
    less let let's letter level leverage life like likely likewise limit limited link list listen literally little live local
    logically long look looking looks lots love lovely low luckily lunch mail main maintain make making man manage manager
    many map mark market match maybe me mean meanwhile meet meeting mention message method might mine minor miss model
    modify moment monitor month monthly more moreover morning most mostly mother move movie moving much multiple music must nature challenges success confidence
    my myself name naturally near nearly need neither never nevertheless new next nice night no nobody none nope nor normally
    not note notes nothing notice now number obviously occasionally of off offer often oh old on once one only oops open
    option options or order organize original other others otherwise our ours out outside over overall overview own page
    paint paper part parents partly party pass past people perfect perform perhaps period person personal personally phase
    phone photo pick picture place plan play please plenty plus point possible possibly practice prepare presumably
    pretty prevent previously price print prioritize probably problem problems process product project projects
    promote properly protect prove provide purchase purpose put question questions quick quickly quite rain rarely rate
    rather reach read reading ready real really reason recall recently recommend reduce refer reference regarding regardless
    register regular regularly related relax release remember remind remove replace reply report request require requirements
    research research reserve resources respect respond response restart result results return review reward right role room
    run running sadly safe sales same save say schedule school search second section see seek seems seldom select send
    separate seriously service session set setbacks setup several shall share she should show sign similar similarly simple
    simply since sister sit size skip slowly small so social some somebody somehow someone something sometimes somewhere son
    soon sorry sounds source speak special specific specifically spend stage stand start state status stay step steps still
    stop store story strategy street strong structure student study stuff style subject submit subsequently such suddenly
    suggest summary sunday super support suppose supposedly sure surely surprisingly sweet switch system table take taking talk
    target task tasks teach team technically tell ten test than thank thankfully thanks that that's the their them then there
    there's therefore these they they're thing things think third this those though thousands three through throughout thus
    time times title to today together tomorrow tonight too took top topic total totally track train travel treat trip true
    truly trust try trying turn two type typically ugh uncle under understand understood unfortunately unless unlike until
    up update upgrade upon use useful user users using usually utilize value various verify version very view visit wait
    walk want was wash watch way we we're wedding week weekend weekly welcome well were what what's whatever when whenever
    where whether which while who whoever whole whose why wife will wish with within without woah woman wonder wonderful
    woohoo work working world worth would wow write writing wrong yay yeah year years yep yes yesterday yet yo you you're
    your yours yourself yup
    """
)
"""Ordinary words: at the start of a sentence, or alone, their capital says nothing."""

ORDINARY_ENDING = (
    "ing",
    "ed",
    "ly",
    "tion",
    "sion",
    "ness",
    "ment",
    "able",
    "ible",
    "ful",
    "ous",
    "less",
    "ize",
    "ise",
)
"""Endings that, at the start of a sentence, speak against a name."""

ORGANISATION_ENDING = _words(
    """
    inc corp corporation company co ltd llc gmbh plc group holdings university college institute school academy bank
    foundation association society committee council agency ministry department union club team laboratory lab labs
    hospital clinic church museum library studio studios press partners ventures capital airlines
    """
)
PLACE_ENDING = _words(
    """
    street road avenue lane square park river lake mountain mountains island islands beach city county airport station
    bridge valley bay district harbor harbour hill hills creek forest desert canyon falls
    """
)
THING_ENDING = _words(
    "award awards prize center centre dome brand theorem law act series book books cup open hall house tower method model "
    "algorithm framework project telescope day street theory test foundation effect"
)
"""What carries a person's name is no person."""
HONORIFICS = _words(
    "mr mrs ms miss dr prof professor sir madam captain president senator judge uncle aunt coach"
)
KIN = (
    "mother|father|mom|mum|dad|parents|brother|sister|son|daughter|wife|husband|spouse|partner|girlfriend|boyfriend|"
    "fiancée?|uncle|aunt|cousin|nephew|niece|grandmother|grandfather|grandma|grandpa|roommate|flatmate|neighbou?r|boss|"
    "manager|supervisor|colleague|coworker|co-worker|mentor|therapist|doctor|dentist|landlord|landlady|teacher|tutor|coach"
)
