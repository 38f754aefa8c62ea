import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder } from "./temp.ts";

/** A certificate that nobody but its owner vouches for. */
export interface Certificate {
  readonly folder: string;
  readonly key: string;
  readonly certificate: string;
}

/** Makes a certificate for a host, readable for an ordinary user; its key is the owner's alone. */
export function makeCertificate(host: string, owner?: { readonly uid: number }): Certificate {
  const folder = createTempFolder({ mode: 0o755 });
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const name = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  const form = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", ...form, ...name, "-keyout", key, "-out", certificate], {
    stdio: "pipe",
  });
  chmodSync(certificate, 0o644);
  chmodSync(key, 0o600);
  if (owner !== undefined) execFileSync("chown", [String(owner.uid), key, certificate]);
  return { folder, key, certificate };
}
