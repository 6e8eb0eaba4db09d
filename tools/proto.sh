#!/bin/sh
# Lints the contract, compares it with the committed image, and generates the Python messages.
# `tools/proto.sh check` compares instead of writing; `tools/proto.sh accept` also moves the image forward.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin
out=libs/contract
"$bin/buf" lint
"$bin/buf" breaking --against proto/image.binpb
if [ "${1:-write}" = check ]; then out=$(mktemp -d); trap 'rm -rf "$out"' EXIT; fi
find "$out/memoria" -name '*_pb2*.py*' -delete 2>/dev/null || true
"$bin/python" -m grpc_tools.protoc -I proto --python_out="$out" --pyi_out="$out" --grpc_python_out="$out" \
    $(find proto -name '*.proto' | sort)
# Only services between our own processes speak gRPC; the sibling and home contracts go over Connect.
rm -f "$out"/memoria/sibling/v1/*_pb2_grpc.py "$out"/memoria/home/v1/*_pb2_grpc.py "$out"/memoria/conformance/v1/*_pb2_grpc.py
if [ "${1:-write}" = check ]; then diff -r -x __pycache__ "$out/memoria" libs/contract/memoria; fi
if [ "${1:-write}" = accept ]; then "$bin/buf" build -o proto/image.binpb; fi
