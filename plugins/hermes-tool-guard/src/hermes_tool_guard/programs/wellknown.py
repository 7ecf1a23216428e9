"""Packages that most projects have: to add one is no surprise. Any other name could be anybody's."""

import re

from hermes_tool_guard.run import names

__all__ = ["is_well_known"]

_PYTHON = names(
    "requests httpx aiohttp urllib3 certifi idna charset-normalizer numpy pandas scipy scikit-learn matplotlib seaborn "
    "plotly bokeh altair torch torchvision torchaudio tensorflow keras jax flax transformers datasets tokenizers "
    "accelerate diffusers sentence-transformers peft huggingface-hub xgboost lightgbm catboost statsmodels sympy "
    "networkx "
    "nltk spacy gensim opencv-python opencv-python-headless pillow scikit-image imageio polars pyarrow dask numba "
    "cython "
    "h5py xarray geopandas shapely flask django djangorestframework fastapi starlette uvicorn gunicorn hypercorn "
    "pydantic pydantic-settings attrs cattrs sqlalchemy alembic sqlmodel psycopg2 psycopg2-binary psycopg asyncpg "
    "pymysql mysqlclient pymongo motor redis celery rq click typer rich textual tqdm tabulate colorama toml tomli "
    "tomlkit pyyaml ruamel.yaml orjson ujson msgpack lxml beautifulsoup4 bs4 html5lib markdown jinja2 mako pygments "
    "docutils sphinx furo mkdocs mkdocs-material pytest pytest-cov pytest-xdist pytest-asyncio pytest-mock "
    "pytest-django "
    "pytest-timeout pytest-benchmark hypothesis mypy ruff black isort flake8 pylint pyright bandit coverage tox nox "
    "pre-commit build twine wheel setuptools setuptools-scm pip virtualenv pipx poetry uv hatch hatchling pdm flit "
    "maturin "
    "pip-tools packaging python-dateutil pytz arrow pendulum babel chardet cryptography pyjwt bcrypt passlib paramiko "
    "openpyxl xlsxwriter xlrd python-docx python-pptx pypdf pypdf2 pymupdf reportlab tiktoken openai anthropic "
    "langchain "
    "faker factory-boy freezegun responses respx vcrpy regex jupyter jupyterlab notebook ipython ipykernel nbformat "
    "nbconvert loguru structlog sentry-sdk typing-extensions six more-itertools toolz cachetools diskcache anyio trio "
    "uvloop jsonschema python-dotenv environs graphviz pydot gitpython boto3 botocore google-cloud-storage streamlit "
    "gradio dash scrapy selenium playwright locust invoke fabric schedule apscheduler watchdog psutil memory-profiler "
    "line-profiler types-requests types-pyyaml django-stubs mypy-extensions tree-sitter websockets werkzeug "
    "itsdangerous "
    "markupsafe email-validator python-multipart aiofiles tenacity backoff humanize unidecode python-slugify "
    "pyinstaller "
    "onnx onnxruntime einops safetensors sentencepiece wandb mlflow tensorboard optuna duckdb great-expectations "
    "dbt-core"
)
_NODE = names(
    "react react-dom react-router react-router-dom next vue vue-router pinia nuxt svelte astro angular express "
    "fastify koa "
    "lodash lodash-es axios node-fetch dotenv cors body-parser morgan helmet mongoose mongodb pg mysql2 sqlite3 "
    "better-sqlite3 redis ioredis prisma drizzle-orm drizzle-kit typeorm sequelize knex zod yup joi ajv typescript "
    "ts-node tsx tslib webpack webpack-cli vite vitest rollup esbuild parcel turbo jest ts-jest mocha chai sinon "
    "nyc c8 "
    "cypress playwright puppeteer eslint prettier stylelint husky lint-staged nodemon concurrently cross-env rimraf "
    "tailwindcss postcss autoprefixer sass less styled-components bootstrap jquery d3 three chart.js moment dayjs "
    "date-fns "
    "luxon uuid nanoid chalk commander yargs inquirer ora debug winston pino ws socket.io socket.io-client graphql "
    "rxjs "
    "redux zustand immer swr clsx classnames framer-motion formik react-hook-form storybook msw supertest "
    "jsdom cheerio sharp bcrypt bcryptjs jsonwebtoken passport multer nodemailer stripe firebase aws-sdk openai "
    "@anthropic-ai/sdk globals typescript-eslint jsonc-parser fast-glob glob semver minimist execa fs-extra "
    "npm-run-all serve http-server json-server electron expo react-native vue-tsc svelte-check terser "
    "core-js regenerator-runtime babel-jest ts-loader css-loader style-loader html-webpack-plugin "
    "mini-css-extract-plugin file-loader electron-builder pnpm yarn npm"
)
_SCOPES = re.compile(
    r"@(?:types|babel|typescript-eslint|eslint|testing-library|vitejs|vitest|playwright|angular|vue|nuxt|svelte|sveltejs|astrojs"
    r"|reduxjs|tanstack|mui|emotion|radix-ui|headlessui|heroicons|chakra-ui|prisma|nestjs|apollo|graphql-codegen|storybook"
    r"|jest|swc|rollup|aws-sdk|google-cloud|octokit|sentry|biomejs|changesets|commitlint|fortawesome|tailwindcss|trpc)/[\w.-]+"
)
_OTHER = names(
    "phpunit/phpunit phpstan/phpstan squizlabs/php_codesniffer friendsofphp/php-cs-fixer laravel/framework "
    "laravel/pint "
    "symfony/symfony symfony/console guzzlehttp/guzzle monolog/monolog doctrine/orm doctrine/dbal vlucas/phpdotenv "
    "nesbot/carbon ramsey/uuid twig/twig mockery/mockery pestphp/pest vimeo/psalm rector/rector league/flysystem "
    "rails rspec rspec-rails rubocop puma sinatra pry byebug factory_bot factory_bot_rails sidekiq devise nokogiri "
    "rake "
    "minitest simplecov capybara pg sqlite3 redis jekyll webrick solargraph"
)
_SPEC = re.compile(r"(?:\[[\w,.-]+\])?(?:(?:[=<>!~]=?|===)[\w.*,<>=!~ -]+|@[\w.^~*<>= -]+)?")


def is_well_known(word: str, registry: str) -> bool:
    """Whether a package is one that most projects have. ``registry`` is python, node, or another."""
    known = _PYTHON if registry == "python" else _NODE if registry == "node" else _OTHER
    name = re.match(r"@?[\w./-]*[\w]", word)
    if not name or not _SPEC.fullmatch(word[name.end() :]):
        return False
    plain = name[0]
    if registry == "python":
        plain = plain.lower().replace("_", "-")
    return plain in known or (registry == "node" and bool(_SCOPES.fullmatch(plain)))
