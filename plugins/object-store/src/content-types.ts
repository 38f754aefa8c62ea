/** Media types that browsers need to be told. */
const USUAL: Readonly<Record<string, string>> = {
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  htm: "text/html",
  html: "text/html",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  map: "application/json",
  md: "text/markdown",
  mjs: "text/javascript",
  mp4: "video/mp4",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  wasm: "application/wasm",
  webp: "image/webp",
  woff2: "font/woff2",
  xml: "application/xml",
};

/** The media type of a new object, by its name. */
export function contentTypeOf(
  key: string,
  own: Readonly<Record<string, string>> = {},
): string | undefined {
  const ending = /\.([^./]+)$/.exec(key)?.[1]?.toLowerCase() ?? "";
  const types = { ...USUAL, ...own };
  return Object.hasOwn(types, ending) ? types[ending] : undefined;
}
