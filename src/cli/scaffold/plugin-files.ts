/** What a new plug-in is called. */
export interface PluginNames {
  /** Of the folder, as it was given. */
  readonly name: string;
  /** Under which configurations know it. */
  readonly strategyName: string;
  readonly className: string;
}

/** The names that belong to one; null when it is none for a package, a strategy and a class alike. */
export function pluginNames(name: string): PluginNames | null {
  if (!/^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/.test(name) || name.length > 60) return null;
  const words = name.split(/[-_]/);
  const className = words.map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`).join("");
  return { name, strategyName: words.join("_"), className: `${className}Strategy` };
}

/** What a plug-in is made of. */
export interface PluginParts {
  /** The strategy to begin with. */
  readonly example: string;
  /** The version of this package. */
  readonly version: string;
  /** How its test is run for the first time. */
  readonly firstTest: string;
}

/** The files of a plug-in that works and passes the conformance kit as it is. */
export function pluginFiles(
  { name, strategyName, className }: PluginNames,
  { example, version, firstTest }: PluginParts,
): ReadonlyMap<string, string> {
  const manifest = {
    name: `cofferdam-plugin-${name}`,
    version: "0.1.0",
    type: "module",
    exports: "./strategy.ts",
    files: ["strategy.ts"],
    scripts: { test: "node --test --test-reporter=spec" },
    peerDependencies: { cofferdam: `^${version}` },
  };
  return new Map([
    ["package.json", `${JSON.stringify(manifest, null, 2)}\n`],
    ["strategy.ts", example.replaceAll("ContentStoreStrategy", className)],
    ["cofferdam.yaml", configuration(strategyName, className)],
    ["conformance.test.mjs", conformanceTest(strategyName)],
    ["README.md", readme({ name, strategyName, className }, firstTest)],
  ]);
}

function configuration(strategyName: string, className: string): string {
  return `sandbox:
  custom_strategies:
    ${strategyName}: { module: ./strategy.ts, class: ${className} }
`;
}

function conformanceTest(strategyName: string): string {
  return `import { join } from "node:path";
import { describe, test } from "node:test";
import { directorySubject, leftOutLines, runConformance } from "cofferdam/testing";

// Which rules of the contract are tried, the capabilities of the strategy say.
const leftOut = await runConformance(
  { describe, test },
  directorySubject({
    name: "${strategyName}",
    strategyName: "${strategyName}",
    options: { config: join(import.meta.dirname, "cofferdam.yaml") },
  }),
);
for (const line of leftOutLines(leftOut)) console.log(line);
`;
}

function readme({ name, strategyName, className }: PluginNames, firstTest: string): string {
  return `# cofferdam-plugin-${name}

A strategy for Cofferdam: how one kind of resource is isolated, compared, committed and taken back.

- \`strategy.ts\`: the class \`${className}\`. It works as it is, for directories, and keeps every
  content once, under its hash. Replace what your resource does in another way.
- \`conformance.test.mjs\`: the rules of the contract, tried on real directories. What is no directory
  needs tests of its own.
- \`cofferdam.yaml\`: makes it known as \`${strategyName}\`.

## Test it

    ${firstTest}

## Use it

In the \`cofferdam.yaml\` of a project that has this package installed:

    sandbox:
      plugin_packages: [cofferdam-plugin-${name}]
      custom_strategies:
        ${strategyName}: { module: cofferdam-plugin-${name}, class: ${className} }

Then \`coffer strategies\` lists it, and these use it:

    coffer open PLAN -r ${strategyName}+dir:./site
    coffer open PLAN -r ${strategyName}+file:./notes.txt  # once it knows single files
    coffer open PLAN -r ${strategyName}+TYPE:LOCATION     # a type of your own

A type of your own stands in the \`cofferdam.yaml\` too; its LOCATION is whatever your strategy makes of it:

    resource_types:
      TYPE: { sandbox_strategy: ${strategyName}, supported_strategies: [${strategyName}] }
`;
}
