"""Words too common to rank by, a short list for each of the languages that most texts here are in.

They are left out of a text's body in its own language and out of a query in each language that has them as such. A
query of nothing else is answered from the exact forms.
"""

_ENGLISH = """
a about above after again against all am an and any are aren't as at be because been before being below between
both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from
further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his
how how's i i'd i'll i'm i've if in into is isn't it it's its itself let's me more most mustn't my myself no nor
not of off on once only or other ought our ours ourselves out over own same shan't she she'd she'll she's should
shouldn't so some such than that that's the their theirs them themselves then there there's these they they'd
they'll they're they've this those through to too under until up very was wasn't we we'd we'll we're we've were
weren't what what's when when's where where's which while who who's whom why why's will with won't would wouldn't
you you'd you'll you're you've your yours yourself yourselves
"""

# Folded, as words are when they are looked up here: "für" is "fur".
_OTHERS = {
    "de": """aber als am an auch auf aus bei bin bis das dass dein dem den der des die dies diese diesem diesen dieser
        doch du durch ein eine einem einen einer eines er es fur hat hatte haben ich ihr ihre im in ist ja kann kein
        keine man mein mich mir mit nach nicht noch nur oder ob seid sein seine sich sie sind so uber um und uns unser
        unter vom von vor war waren was wenn wer werden wie wir wird wo wurde wurden zu zum zur""",
    "fr": """a ai as au aux avec ce ces cet cette dans de des du elle elles en est et eu il ils je la le les leur leurs
        lui ma mais me mes moi mon ne nos notre nous on ont ou par pas pour qu que qui sa se ses si son sont sur ta te
        tes toi ton tu un une vos votre vous etait etaient etre""",
    "es": """a al como con de del el ella ellas ellos en entre era es esa ese eso esta este esto fue ha han hasta la las
        le les lo los mas me mi muy ni no nos o para pero por que se ser si sin sobre son su sus te tu un una uno unos
        unas y ya yo""",
    "it": """a ad agli ai al alla alle allo anche che chi ci come con cui da dagli dai dal dalla dalle dei degli del
        della delle dello di e ed era gli ha hanno i il in io la le lei li lo loro lui ma mi ne nei nel nella nelle noi
        non o per piu quale quando quella quello questa questo se si sono su sua sue sui sul sulla suo te ti tra tu un
        una uno vi voi""",
    "pt": """a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta este eu foi
        ha isso ja lhe mais mas me meu minha muito na nas nao nem no nos o os ou para pela pelo por que quem sao se sem
        ser seu seus so sua suas tem um uma voce""",
    "nl": """aan al als bij dan dat de der deze die dit door een en er haar had heb heeft het hij hoe hun ik in is ja je
        kan maar me meer met mijn na naar niet nog nu of om onder ons ook op over te tot u uit van voor was wat we wel
        werd wie wij wordt worden zal ze zich zij zijn zo""",
    "sv": """alla att av blev bli da de dem den denna det detta dig din du eller en ett for fran har hade han hans hon
        hur i inte jag kan kunde man med men mig min nar nej ni nu och om pa sa sig sin ska som till under upp ut vad
        var vara vi vid ar over""",
    "da": """af alle at blev blive da de dem den denne der det dette dig din du efter eller en er et for fra ham han
        hans har havde hun hvad hvis hvor i ikke ind jeg kan man med men mig min nar noget nu og om op os over pa sig
        sin skal som til ud under var vi vil ville vaere""",
    "no": """alle at av ble bli da de dem den denne der det dette du eller en er et etter for fra ha han hans har hadde
        hun hva hvis hvor i ikke jeg kan man med men meg min nar noe og om opp oss over pa seg sin skal som til ut
        under var vi vil ville vaere""",
}

# Polish, Czech, Hungarian, Finnish, Romanian and Turkish: too few to leave out, enough to know a text by.
_SPOKEN = """
jest sie nie ze jak przez dla oraz ktory ktore ale lub byl bylo jako tym jego po od za
se ze pro jako byl jsou nebo pri podle jeho ktery ktere aby tak uz jen
az egy hogy nem meg ez volt vagy van mint csak es kell lesz
ja ei oli kun joka tai myos mutta ovat sen niin kuin jos
si cu nu care pe din este sa pentru mai sau fost
ve bir bu icin ile olarak olan gibi daha ancak veya ama
"""

_CARRIERS = """
any article articles available concerning deal dealing deals describe described describes describing discuss discussed
discusses discussing discussion discussions document documents especially exist exists find finding give given gives
giving information interest interested interesting know known like list looking paper papers particular particularly
please regarding relate related relevant see show tell various want wanted work written
"""

STOP_WORDS = frozenset(_ENGLISH.split())
"""The English ones."""

STOPS: dict[str, frozenset[str]] = {"en": STOP_WORDS} | {
    code: frozenset(words.split()) for code, words in _OTHERS.items()
}
"""By language code, folded."""

CARRIERS = frozenset(_CARRIERS.split())
"""Words that carry a request ("find papers about …") and say little of its subject. They weigh less, never nothing."""

FUNCTION_WORDS = frozenset(_SPOKEN.split()).union(*STOPS.values())
"""Words that a text of some language here can hardly do without, folded."""
