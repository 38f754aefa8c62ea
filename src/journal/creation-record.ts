import type { Resource } from "../model/resource.ts";
import { hasFields, type RecordFormat } from "./record-file.ts";

/** A sandbox that is being made: durable before anything of it exists, so that nothing is left when the maker dies. */
export interface Creation {
  readonly planId: string;
  readonly sandboxId: string;
  readonly strategyName: string;
  readonly resource: Resource;
}

/** How a creation is written. */
export const CREATION: RecordFormat<Creation> = {
  name: "creation",
  version: 1,
  isData: (value): value is Creation =>
    hasFields(value, {
      planId: "string",
      sandboxId: "string",
      strategyName: "string",
      resource: "object",
    }),
};
