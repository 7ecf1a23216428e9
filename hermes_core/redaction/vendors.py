"""What services' tokens begin with: a table of data, compiled by ``tokens`` when the first long word is seen.

Each row: literals that may begin a token, and what follows. A body is the name of one in ``BODIES`` or a pattern of
its own. A token never begins in the middle of a word.
"""

__all__ = ["BODIES", "VENDORS"]

# long: surely a token. digits: a digit is in it. random: it must look drawn by lot, as the literals are short words.
BODIES = {
    "long": r"[A-Za-z0-9_-]{12,}",
    "digits": r"(?=[A-Za-z_=.-]*\d)[A-Za-z0-9_=.-]{12,}",
    "random": r"[A-Za-z0-9_+=-]{14,}",
}

VENDORS: tuple[tuple[str, str], ...] = (
    # model services
    ("sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf- pk-lf- sk-None- sk-bf- sk-service- sk-kimi- sess-", "digits"),
    ("sk- sk_ pplx- gsk_ xai- nvapi- tvly- hf_ r8_ tgp_v1_ csk- jina_ lsv2_pt_ lsv2_sk_ pcsk_ ntn_", "digits"),
    ("fw_ fw- fpk_ fc- exa_ exa- am_ syt_ brv_ hsk- mem0_ m0- retaindb_ fal_ pa- co_ e2b_ vk- msk_ wkm_ cohere_", "random"),
    ("AIza GOCSPX- AQ.Ab", "long"),
    ("ya29. ya29.a0 ya29.c.", r"[A-Za-z0-9_.-]{12,}"),
    ("1//0", r"[A-Za-z0-9_-]{20,}"),
    # clouds
    ("AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}\b|(?=[A-Z0-9]*\d)[A-Z0-9]{12,}"),
    ("ABSK bedrock-api-key-", r"[A-Za-z0-9+/=]{20,}"),
    ("dop_v1_ doo_v1_ dor_v1_ HRKU- nfp_ nfc_ nfo_ nfu_ nfb_ vcp_ vci_ vca_ vcr_ vck_ sbp_ sb_secret_", "digits"),
    ("rnd_ vercel_ dapi dkea dose LTAI AKID scw- tskey- fo1_ fm1r_ fm2_ cfut_ cfat_ cfk_", "random"),
    ("pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{12,}"),
    ("v1.0-", r"[a-f0-9]{20,}-[a-f0-9]{60,}"),
    ("hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,}"),
    ("s. b. r.", r"(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{5})?\b"),
    ("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.", r"[A-Za-z0-9_.-]{16,}"),
    ("pul- tfe- tfp_ ops_ ATCTT3 ATSTT3", "random"),
    ("AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", r"[A-Za-z0-9]{16,}"),
    # code hosting, packages, builds
    ("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", "long"),
    ("glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- gloas-", r"[A-Za-z0-9_.=-]{12,}"),
    ("GR1348941 ATBB ATATT ATOA", r"[A-Za-z0-9_=-]{16,}"),
    ("npm_ pypi- dckr_pat_ dckr_oat_ rubygems_ bkua_ CCIPAT_ CCIPRJ_ sgp_ sqp_ squ_ sqa_", "digits"),
    ("oy2 cio", r"[a-z0-9]{40,}"),
    ("AKCp cmVmdGtu", r"[A-Za-z0-9]{20,}"),
    # talk
    ("xoxb- xoxp- xoxa- xoxs- xoxr- xoxo- xoxe- xoxe.xoxb- xoxe.xoxp- xoxc- xoxd- xapp- xwfp-", r"[A-Za-z0-9%.-]{10,}"),
    ("SG.", r"[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{12,}"),
    ("xkeysib- xsmtpsib- mlsn. PMAK-", "digits"),
    ("re_ key- pubkey-", "random"),
    # money
    ("sk_live_ sk_test_ rk_live_ rk_test_ ek_live_ ek_test_ bb_live_ bb_test_ sk_prod_", "long"),
    ("whsec_", r"[A-Za-z0-9+/_-]{12,}=*"),
    ("sq0atp- sq0csp- sq0idp- shpat_ shpss_ shpca_ shppa_ shptka_ shippo_live_ shippo_test_", "digits"),
    ("EAAA EZAK EZTK A21AA", "random"),
    ("access_token$production$ access_token$sandbox$", r"[A-Za-z0-9]{12,}\$[a-f0-9]{16,}"),
    ("FLWSECK_TEST- FLWSECK- rzp_live_ rzp_test_ access-production- access-sandbox-", "digits"),
    # work
    ("lin_api_ lin_oauth_ figd_ figo_ CFPAT- duffel_live_ duffel_test_ pat-na1- pat-eu1-", "digits"),
    ("secret_ frio_ dnkey- trello_ phx_ phs_ lt_ ddp_", "random"),
    ("dt0c01. dt0s01.", r"[A-Z0-9]{20,}\.[A-Z0-9]{40,}"),
    ("pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{32,}"),
    ("NRAK- NRII- NRJS- NRRA- NRAL- NRIQ- NRSP- glsa_ glc_ sntrys_ sntryu_ sntrya_ hcaik_ hcbik_", r"[A-Za-z0-9_=+/-]{12,}"),
    ("y_ u+ y0_", r"(?=[A-Za-z_-]*\d)(?=[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{18,22}\b"),
    ("sl. sl.u.", r"[A-Za-z0-9_-]{60,}"),
    ("EAAC EAAG EAAB EAAJ IGQV IGAA", r"[A-Za-z0-9]{40,}"),
    ("SK", r"(?=[a-f]*\d)[a-f0-9]{32}\b"),
    ("gAAAA", r"[A-Za-z0-9_-]{24,}={0,2}"),
    # a signed token: header, body, signature; also cut off after the header's dot
    ("eyJ", r"[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3})"),
    # coins
    ("xprv yprv zprv tprv", r"[1-9A-HJ-NP-Za-km-z]{60,}"),
)  # fmt: skip
