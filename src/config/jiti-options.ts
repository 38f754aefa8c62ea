import type { JitiOptions } from "jiti";

/**
 * How TypeScript modules are loaded. Everything is said here, so that no environment variable changes it. Nothing is
 * kept on disk, because the usual cache is a shared temp folder, where another user could plant code.
 */
export const JITI_OPTIONS: Readonly<JitiOptions> = {
  fsCache: false,
  moduleCache: true,
  interopDefault: false,
  debug: false,
  alias: {},
  nativeModules: [],
  transformModules: [],
  tryNative: false,
  esmEvalTempFile: false,
  jsx: false,
  tsconfigPaths: false,
};
