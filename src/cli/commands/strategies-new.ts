import type { Call } from "../call.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { pluginFiles, pluginNames } from "../scaffold/plugin-files.ts";
import { firstTestIn, readExample, readVersion, writePlugin } from "../scaffold/write-plugin.ts";
import { usageError } from "../usage-error.ts";

/** `coffer strategies new`: a plug-in that works, to be changed into another one. */
export async function writeNewStrategy(call: Call): Promise<ExitCode> {
  const name = call.needed("name");
  const names = pluginNames(name);
  if (names === null) {
    throw usageError(
      `${JSON.stringify(name)} cannot be the name of a package`,
      "Take small letters and digits, with - or _ between words, as in versioned-store.",
    );
  }
  const firstTest = firstTestIn(name);
  const files = pluginFiles(names, {
    example: await readExample(),
    version: await readVersion(),
    firstTest,
  });
  const folder = await writePlugin(name, files);
  const { strategyName, className } = names;
  call.answer({ strategyName, className, folder, files: [...files.keys()] }, () => [
    `Made ${name}: strategy ${strategyName}, class ${className}`,
    ...[...files.keys()].map((file) => `  ${name}/${file}`),
  ]);
  call.suggest(
    [`cd ${name} && ${firstTest}`, "try the rules of the contract on it"],
    [`coffer strategies --config ${name}/cofferdam.yaml`, "see it beside the others"],
  );
  return EXIT.done;
}
