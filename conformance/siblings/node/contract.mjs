// The contract as connect-node wants it: the service and its enums, read from a descriptor set; no code is generated.
//
// sibling.binpb is made with `memoria-conformance export-proto --binary > sibling.binpb`.
import { readFileSync } from "node:fs";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const bytes = readFileSync(new URL("./sibling.binpb", import.meta.url));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));

export const SiblingService = registry.getService("memoria.sibling.v1.SiblingService");

/** The numbers of an enum by their short names: `numbers("Verdict").NOT_VISIBLE` is 2. */
function numbers(name) {
  const { values } = registry.getEnum(`memoria.sibling.v1.${name}`);
  return Object.freeze(Object.fromEntries(values.map((value) => [value.localName, value.number])));
}

export const SubjectKind = numbers("SubjectKind");
export const Call = numbers("Call");
export const Verdict = numbers("Verdict");
export const AuthorKind = numbers("AuthorKind");
export const AggregateFunction = numbers("AggregateFunction");
export const AggregateOutcome = numbers("AggregateOutcome");

export const MAX_PAIRS = 256;
export const MAX_CELLS = 64;
