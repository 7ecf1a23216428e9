"""What each service answers, in the form that its documentation shows (``source`` of its row), and how it is asked.

Every answer holds one page, ``https://page.example/NAME``, titled ``Title`` and with ``Text`` as its text.
"""

from typing import Any

PAGE = "https://page.example/x"

# name -> the answer
ANSWERS: dict[str, Any] = {
    "brave": {
        "type": "search",
        "query": {"original": "q", "more_results_available": True},
        "web": {
            "type": "search",
            "results": [
                {
                    "title": "Title",
                    "url": PAGE,
                    "is_source_local": False,
                    "description": "<strong>Text</strong>",
                    "age": "2 days ago",
                }
            ],
        },
    },
    "tavily": {
        "query": "q",
        "answer": None,
        "images": [],
        "results": [{"title": "Title", "url": PAGE, "content": "Text", "score": 0.8, "raw_content": None}],
        "response_time": 1.1,
    },
    "exa": {
        "requestId": "b5947044",
        "results": [{"title": "Title", "url": PAGE, "id": PAGE, "publishedDate": None, "author": None, "text": "Text"}],
        "costDollars": {"total": 0.005},
    },
    "firecrawl": {
        "success": True,
        "data": {"web": [{"url": PAGE, "title": "Title", "description": "Text", "position": 1}], "news": []},
    },
    "parallel": {
        "search_id": "search_1",
        "results": [{"url": PAGE, "title": "Title", "publish_date": "2026-01-01", "excerpts": ["Text"]}],
        "warnings": None,
    },
    "you": {
        "results": {"web": [{"url": PAGE, "title": "Title", "description": "Text", "snippets": ["more"]}]},
        "metadata": {"search_uuid": "1", "query": "q", "latency": 0.1},
    },
    "perplexity": {"results": [{"title": "Title", "url": PAGE, "snippet": "Text", "date": "2026-01-01"}], "id": "1"},
    "linkup": {"results": [{"type": "text", "name": "Title", "url": PAGE, "content": "Text"}]},
    "serper": {
        "searchParameters": {"q": "q", "type": "search"},
        "organic": [{"title": "Title", "link": PAGE, "snippet": "Text", "position": 1}],
        "credits": 1,
    },
    "kagi": {
        "meta": {"id": "1", "node": "us", "ms": 100},
        "data": {
            "search": [{"url": PAGE, "title": "Title", "snippet": "Text"}],
            "related_search": [{"url": "x", "title": "related"}],
        },
    },
    "jina": {
        "code": 200,
        "status": 20000,
        "data": [{"title": "Title", "url": PAGE, "description": "Text", "content": "", "usage": {"tokens": 1000}}],
    },
    "google": {
        "kind": "customsearch#search",
        "items": [{"kind": "customsearch#result", "title": "Title", "link": PAGE, "snippet": "Text"}],
    },
    "marginalia": {
        "license": "CC-BY-NC-SA 4.0",
        "query": "q",
        "results": [{"url": PAGE, "title": "Title", "description": "Text", "quality": 2.5}],
    },
    "wikipedia": {
        "pages": [
            {
                "id": 1,
                "key": "Big_Bang_(x)",
                "title": "Title",
                "excerpt": '<span class="searchmatch">Text</span>',
                "description": "a page",
                "thumbnail": None,
            }
        ]
    },
    "stackexchange": {
        "items": [{"question_id": 42, "item_type": "question", "title": "Title", "excerpt": "Text", "score": 3}],
        "has_more": False,
        "quota_max": 300,
        "quota_remaining": 299,
    },
    "github": {
        "total_count": 1,
        "incomplete_results": False,
        "items": [{"id": 1, "full_name": "Title", "html_url": PAGE, "description": "Text"}],
    },
    "hackernews": {
        "hits": [
            {"objectID": "7", "title": "Title", "url": PAGE, "points": 5, "story_text": "Text"},
            {"objectID": "8", "title": "Ask", "url": None, "story_text": "<p>Why&#x27;s that"},
        ],
        "nbHits": 2,
    },
    "crossref": {
        "status": "ok",
        "message": {"items": [{"DOI": "10.1/x", "title": ["Title"], "URL": PAGE, "abstract": "<jats:p>Text</jats:p>"}]},
    },
    "arxiv": b"""<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">
<link href="http://arxiv.org/api/query?x" rel="self" type="application/atom+xml"/><title type="html">ArXiv Query</title>
<entry><id>http://arxiv.org/abs/1</id><title>Title</title><summary>Text</summary>
<author><name>Ada</name></author><link href="https://page.example/x" rel="alternate" type="text/html"/>
<link title="pdf" href="http://arxiv.org/pdf/1" rel="related" type="application/pdf"/></entry></feed>""",
    "searxng": {
        "query": "q",
        "number_of_results": 1,
        "results": [{"url": PAGE, "title": "Title", "content": "Text", "engine": "x", "score": 1.0}],
        "answers": [],
        "unresponsive_engines": [],
    },
}
LINKS = {
    "wikipedia": "https://en.wikipedia.org/wiki/Big_Bang_(x)",
    "stackexchange": "https://stackoverflow.com/q/42",
}

# name -> with the key "K" (and "O"): what is in the URL's query, in the body, in the headers
ASKED: dict[str, tuple[dict[str, str], dict[str, Any], dict[str, str]]] = {
    "brave": ({"q": "two words", "count": "5"}, {}, {"x-subscription-token": "K"}),
    "tavily": ({}, {"query": "two words", "max_results": 5}, {"authorization": "Bearer K"}),
    "exa": (
        {},
        {"query": "two words", "numResults": 5, "contents": {"text": {"maxCharacters": 500}}},
        {"x-api-key": "K"},
    ),
    "firecrawl": ({}, {"query": "two words", "limit": 5}, {"authorization": "Bearer K"}),
    "parallel": (
        {},
        {"objective": "two words", "search_queries": ["two words"], "advanced_settings": {"max_results": 5}},
        {"x-api-key": "K"},
    ),
    "you": ({"query": "two words", "count": "5"}, {}, {"x-api-key": "K"}),
    "perplexity": ({}, {"query": "two words", "max_results": 5}, {"authorization": "Bearer K"}),
    "linkup": (
        {},
        {"q": "two words", "depth": "standard", "outputType": "searchResults", "maxResults": 5},
        {"authorization": "Bearer K"},
    ),
    "serper": ({}, {"q": "two words", "num": 5}, {"x-api-key": "K"}),
    "kagi": ({}, {"query": "two words", "limit": 5}, {"authorization": "Bearer K"}),
    "jina": ({"q": "two words", "num": "5"}, {}, {"authorization": "Bearer K", "x-respond-with": "no-content"}),
    "google": ({"key": "K", "cx": "K", "q": "two words", "num": "5"}, {}, {}),
    "marginalia": ({"query": "two words", "count": "5"}, {}, {"api-key": "K"}),
    "wikipedia": ({"q": "two words", "limit": "5"}, {}, {}),
    "stackexchange": (
        {"q": "two words", "pagesize": "5", "site": "stackoverflow", "order": "desc", "sort": "relevance"},
        {},
        {},
    ),
    "github": ({"q": "two words", "per_page": "5"}, {}, {"x-github-api-version": "2022-11-28"}),
    "hackernews": ({"query": "two words", "hitsPerPage": "5", "tags": "story"}, {}, {}),
    "crossref": (
        {"query": "two words", "rows": "5", "select": "DOI,title,URL,container-title,abstract"},
        {},
        {},
    ),
    "arxiv": ({"search_query": "all:two words", "max_results": "5", "sortBy": "relevance"}, {}, {}),
    "searxng": ({"q": "two words", "format": "json"}, {}, {}),
}
# name -> the headers without a key
KEYLESS = {"tavily": {"x-tavily-access-mode": "keyless"}, "marginalia": {"api-key": "public"}}
