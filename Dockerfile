# The gateway in a container:
#   docker build -t hermes .
#   docker run -d --name hermes -v hermes:/data -e TELEGRAM_BOT_TOKEN=… -e OPENAI_API_KEY=… hermes
# EXTRAS chooses what is installed (see pyproject.toml), PACKAGES what else the tools should find.
ARG BASE=docker.io/library/python:3.13-slim-bookworm
ARG UV=ghcr.io/astral-sh/uv:0.13

FROM ${UV} AS uv

FROM ${BASE} AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PROJECT_ENVIRONMENT=/opt/hermes UV_PYTHON_DOWNLOADS=never
WORKDIR /src
COPY . .
ARG EXTRAS=all
RUN uv sync --frozen --no-dev --no-editable --no-cache --extra "${EXTRAS}"

FROM ${BASE}
ARG PACKAGES="bash ca-certificates curl git openssh-client procps ripgrep"
RUN apt-get update \
 && apt-get install -y --no-install-recommends tini ${PACKAGES} \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 hermes \
 && useradd --uid 10001 --gid hermes --create-home --shell /bin/bash hermes \
 && install -d -o hermes -g hermes -m 0700 /data
COPY --from=build /opt/hermes /opt/hermes
ENV HERMES_HOME=/data LANG=C.UTF-8 PATH=/opt/hermes/bin:/usr/local/bin:/usr/bin:/bin PYTHONUNBUFFERED=1
VOLUME /data
# Whoever writes to the gateway has commands run as this user: never as root.
USER 10001:10001
WORKDIR /home/hermes
EXPOSE 8644
# It drains: no new work, running turns end (gateway.drain_seconds), answers go out. Give it longer than that to stop.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["curl", "--fail", "--silent", "--show-error", "--max-time", "4", "http://127.0.0.1:8644/healthz"]
# tini buries the processes that tools leave behind, and passes signals on.
ENTRYPOINT ["tini", "--", "hermes"]
CMD ["gateway", "run", "--health", "0.0.0.0:8644"]
