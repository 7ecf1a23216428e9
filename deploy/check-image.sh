#!/usr/bin/env bash
# Starts a built image as a cluster would (read-only, no capabilities, not root), waits until it is healthy, tells it to
# stop, and says whether it drained: deploy/check-image.sh hermes:1.0.0
set -euo pipefail
image=${1:?name the image}
name=hermes-check-$$
trap 'docker rm --force "$name" >/dev/null 2>&1 || true' EXIT

docker run --detach --name "$name" --network "${NETWORK:-bridge}" --read-only --tmpfs /tmp --tmpfs /home/hermes:uid=10001,gid=10001 \
  --cap-drop ALL --security-opt no-new-privileges --health-interval 2s --volume /data "$image" \
  gateway work --health 127.0.0.1:8644 >/dev/null
for _ in $(seq 60); do
  health=$(docker inspect --format '{{.State.Health.Status}}' "$name")
  [ "$health" = healthy ] && break
  sleep 1
done
[ "$health" = healthy ] || { docker logs "$name"; echo "it is $health, not healthy" >&2; exit 1; }
[ "$(docker exec "$name" id -u)" = 10001 ] || { echo "it runs as another user" >&2; exit 1; }
[ "$(docker exec "$name" cat /proc/1/comm)" = tini ] || { echo "tini is not the first process" >&2; exit 1; }
docker exec "$name" curl --fail --silent http://127.0.0.1:8644/readyz
docker stop --time 30 "$name" >/dev/null
status=$(docker inspect --format '{{.State.ExitCode}}' "$name")
[ "$status" = 0 ] || { docker logs "$name"; echo "SIGTERM ended it with $status" >&2; exit 1; }
echo "It is healthy, and drains."
