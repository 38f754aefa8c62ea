import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { fromIni } from "@aws-sdk/credential-provider-ini";
import type { StoreSettings } from "./settings.ts";

/** A server that is there answers by then; one that is not must not hold up a commit. */
const CONNECTION_MS = 5_000;
const REQUEST_MS = 120_000;
/** Keeps the client library from telling on every command that its coming releases need a newer Node. */
const NO_WARNING = "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED";

/** How often a request is made, at most, while there is no answer. */
const ATTEMPTS = 3;

/** Two clients for one server. */
export interface Clients {
  /** Makes requests again that got no answer. */
  readonly patient: S3Client;
  /** Makes every request once, for those that do something again when they are made again. */
  readonly once: S3Client;
}

/** Clients for the server of these settings. */
export function openClients(settings: StoreSettings): Clients {
  return { patient: openClient(settings, ATTEMPTS), once: openClient(settings, 1) };
}

function openClient(
  { endpoint, region, pathStyle, ...given }: StoreSettings,
  maxAttempts: number,
): S3Client {
  const { [NO_WARNING]: before } = process.env;
  process.env[NO_WARNING] = "true";
  try {
    return new S3Client({
      ...(endpoint !== undefined && { endpoint }),
      // Servers other than that of AWS have one region, and want to be called by some name all the same.
      ...((region ?? endpoint) !== undefined && { region: region ?? "us-east-1" }),
      ...credentialsOf(given),
      maxAttempts,
      forcePathStyle: pathStyle ?? endpoint !== undefined,
      requestHandler: { connectionTimeout: CONNECTION_MS, requestTimeout: REQUEST_MS },
      // Many servers know no other checksums than those that the protocol began with.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  } finally {
    if (before === undefined) delete process.env[NO_WARNING];
    else process.env[NO_WARNING] = before;
  }
}

/** Where nothing is said, the client library looks where it always does. */
function credentialsOf({ profile, credentialsFile }: StoreSettings): S3ClientConfig {
  const named = profile === undefined ? {} : { profile };
  if (credentialsFile === undefined) return named;
  return { credentials: fromIni({ ...named, filepath: credentialsFile }) };
}
