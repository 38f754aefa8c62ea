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

/** The files of a plug-in that works and passes the conformance kit as it is; `example` is the strategy to begin with. */
export function pluginFiles(
  { name, strategyName, className }: PluginNames,
  example: string,
  version: string,
): ReadonlyMap<string, string> {
  const manifest = {
    name: `cofferdam-plugin-${name}`,
    version: "0.1.0",
    type: "module",
    exports: "./strategy.ts",
    files: ["strategy.ts"],
    scripts: { test: "node --test" },
    peerDependencies: { cofferdam: `^${version}` },
  };
  return new Map([
    ["package.json", `${JSON.stringify(manifest, null, 2)}\n`],
    ["strategy.ts", example.replaceAll("ContentStoreStrategy", className)],
    ["cofferdam.yaml", configuration(strategyName, className)],
    ["conformance.test.mjs", conformanceTest(strategyName)],
    ["README.md", readme(name, strategyName, className)],
  ]);
}

function configuration(strategyName: string, className: string): string {
  return `sandbox:
  custom_strategies:
    ${strategyName}: { module: ./strategy.ts, class: ${className} }
`;
}

function conformanceTest(strategyName: string): string {
  return `import { describe, test } from "node:test";
import { directorySubject, runConformance } from "cofferdam/testing";

// Which rules of the contract are tried, the capabilities of the strategy say.
const leftOut = await runConformance(
  { describe, test },
  directorySubject({
    name: "${strategyName}",
    strategyName: "${strategyName}",
    options: { config: new URL("cofferdam.yaml", import.meta.url).pathname },
  }),
);
for (const { title, reason } of leftOut) console.log(\`left out: \${title} (\${reason})\`);
`;
}

function readme(name: string, strategyName: string, className: string): string {
  return `# cofferdam-plugin-${name}

A strategy for Cofferdam: how one kind of resource is isolated, compared, committed and taken back.

- \`strategy.ts\`: the class \`${className}\`. It works as it is, for directories, and keeps every
  content once, under its hash. Replace what your resource does in another way.
- \`conformance.test.mjs\`: the rules of the contract, tried on real directories.
- \`cofferdam.yaml\`: makes it known as \`${strategyName}\`.

## Test it

    npm install
    npm test

## Use it

In the \`cofferdam.yaml\` of a project that has this package installed:

    sandbox:
      plugin_packages: [cofferdam-plugin-${name}]
      custom_strategies:
        ${strategyName}: { module: cofferdam-plugin-${name}, class: ${className} }

Then \`coffer strategies\` lists it, and \`coffer open PLAN -r ${strategyName}+dir:./site\` uses it.
`;
}
