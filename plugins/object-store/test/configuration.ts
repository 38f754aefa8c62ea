import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CephServer } from "../../../test/support/ceph-server.ts";

const PLUGIN = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** What a configuration says about a server. */
type Reached = Pick<CephServer, "endpoint" | "credentialsFile">;

/** The part of a configuration by which the strategy is known and finds the server. */
export function configurationOf({ endpoint, credentialsFile }: Reached): string {
  return `sandbox:
  plugin_roots: ["${PLUGIN}"]
  custom_strategies:
    object_store:
      module: "${PLUGIN}/src/strategy.ts"
      class: ObjectStoreStrategy
      options: { endpoint: "${endpoint}", credentials_file: "${credentialsFile}" }
resource_types:
  bucket: { sandbox_strategy: object_store }
`;
}

/** A configuration file with this in it. */
export function writeConfiguration(folder: string, server: Reached): string {
  const file = join(folder, "cofferdam.yaml");
  writeFileSync(file, configurationOf(server), { mode: 0o600 });
  return file;
}
