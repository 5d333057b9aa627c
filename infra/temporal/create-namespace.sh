#!/bin/sh
# The namespace `default`, where the server has none. Environment: TEMPORAL_ADDRESS.
set -eu
for _ in $(seq 60); do
  temporal operator cluster health >/dev/null 2>&1 && break
  sleep 1
done
temporal operator namespace describe --namespace default >/dev/null 2>&1 ||
  temporal operator namespace create --namespace default --retention 3d
# The server reads its list of namespaces every few seconds: workers of one that it does not know yet are refused.
for _ in $(seq 60); do
  temporal workflow list --namespace default --limit 1 >/dev/null 2>&1 && exit 0
  sleep 1
done
echo 'the namespace was made, but the server does not know it yet' >&2
exit 1
