import { join } from "node:path";
import ts from "typescript";

/**
 * The error classes that the package exports, as the compiler sees them: name, code, first sentence of the comment,
 * and the fields of `data` with their types.
 */
export function errorClasses(root) {
  const entry = join(root, "src/errors/index.ts");
  const options = {
    ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
    ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
    ...{ target: ts.ScriptTarget.ES2022, allowImportingTsExtensions: true },
    types: ["node"],
  };
  const program = ts.createProgram([entry], options);
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(
    checker.getSymbolAtLocation(program.getSourceFile(entry)),
  );
  return exported
    .map((symbol) =>
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    )
    .filter((symbol) => symbol.flags & ts.SymbolFlags.Class && symbol.name !== "SandboxError")
    .map((symbol) => describe(symbol, checker));
}

function describe(symbol, checker) {
  const instance = checker.getDeclaredTypeOfSymbol(symbol);
  const data = checker.getTypeOfSymbol(instance.getProperty("data"));
  return {
    name: symbol.name,
    code: codeOf(symbol),
    base: checker.typeToString(checker.getBaseTypes(instance)[0]).replace(/<.*/s, ""),
    summary: ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll("\n", " "),
    fields: data.getProperties().map((property) => {
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      const type = checker.getNonNullableType(checker.getTypeOfSymbol(property));
      const choices = (type.isUnion() ? type.types : [type])
        .filter((one) => one.isStringLiteral())
        .map((one) => one.value);
      return { name: property.name, isOptional, choices };
    }),
  };
}

function codeOf(symbol) {
  const member = symbol.valueDeclaration.members.find((one) => one.name?.getText() === "code");
  return member.initializer.text;
}
