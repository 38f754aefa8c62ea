import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import type { CephServer } from "./ceph-server.ts";

const VERSIONED = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";

/** Requests to the buckets of a server by curl, for those who cannot wait for a promise. Keys are plain ASCII. */
export class BucketRequests {
  readonly #server: CephServer;

  constructor(server: CephServer) {
    this.#server = server;
  }

  /** Makes a bucket that keeps versions, with these objects. */
  make(bucket: string, objects: Readonly<Record<string, string>>): void {
    this.#send("PUT", `/${bucket}`);
    this.#send("PUT", `/${bucket}?versioning`, VERSIONED);
    for (const [key, text] of Object.entries(objects)) this.put(bucket, key, text);
  }

  put(bucket: string, key: string, text: string): void {
    this.#send("PUT", `/${bucket}/${key}`, text);
  }

  /** All present objects: key and text. */
  texts(bucket: string): Record<string, string> {
    const listed = this.#send("GET", `/${bucket}`);
    const keys = valuesOf(listed, "Key");
    return Object.fromEntries(keys.map((key) => [key, this.#send("GET", `/${bucket}/${key}`)]));
  }

  /** Every version and marker, newest first within a key. */
  history(bucket: string): string[] {
    const listed = this.#send("GET", `/${bucket}?versions`);
    const [keys, ids] = [valuesOf(listed, "Key"), valuesOf(listed, "VersionId")];
    return keys.map((key, at) => `${key} ${ids[at]}`);
  }

  /** The keys to which uploads are under way. */
  uploads(bucket: string): string[] {
    return valuesOf(this.#send("GET", `/${bucket}?uploads`), "Key");
  }

  #send(method: string, resource: string, body = ""): string {
    const { endpoint, keyId, secret } = this.#server;
    const [type, date] = ["text/plain", new Date().toUTCString()];
    const signed = [method, "", type, date, resource].join("\n");
    const signature = createHmac("sha1", secret).update(signed).digest("base64");
    const headers = {
      "content-type": type,
      date,
      authorization: `AWS ${keyId}:${signature}`,
    };
    const given = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const sent = method === "PUT" ? ["--data-binary", "@-"] : [];
    const how = ["-sS", "--fail-with-body", "--retry", "3", "-X", method, ...given, ...sent];
    return execFileSync("curl", [...how, `${endpoint}${resource}`], {
      input: body,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });
  }
}

function valuesOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text]) => text!);
}
