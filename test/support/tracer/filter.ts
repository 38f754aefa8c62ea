import { type MutatingCall, MUTATING_CALLS } from "./calls.ts";

/** Codes of the instructions that a filter of system calls is made of. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const TRACE = 0x7ff0_0000;
/** Where the kernel puts the number of the call, the machine's kind and the arguments. */
const NUMBER_AT = 0;
const MACHINE_AT = 4;
const ARGUMENTS_AT = 16;
const X86_64 = 0xc000_003e;

/** The instructions of a filter that lets only the calls stop that may change something. */
export function mutatingCallsFilter(): Buffer {
  const blocks = [...MUTATING_CALLS].map(([number, call]) => {
    const block = blockOf(call);
    return Buffer.concat([instruction(IF_EQUAL, number, 0, block.length / 8), block]);
  });
  return Buffer.concat([
    instruction(LOAD, MACHINE_AT),
    instruction(IF_EQUAL, X86_64, 1, 0),
    instruction(RETURN, ALLOW),
    instruction(LOAD, NUMBER_AT),
    ...blocks,
    instruction(RETURN, ALLOW),
  ]);
}

/** What is done once the number of the call is known. */
function blockOf({ onlyIf }: MutatingCall): Buffer {
  if (onlyIf === undefined) return instruction(RETURN, TRACE);
  const { argument, anyBit, oneOf = [] } = onlyIf;
  const load = instruction(LOAD, ARGUMENTS_AT + 8 * argument);
  const tests: (readonly [code: number, value: number])[] = [
    ...oneOf.map((value) => [IF_EQUAL, value] as const),
    ...(anyBit === undefined ? [] : [[IF_ANY_BIT, anyBit] as const]),
  ];
  const jumps = tests.map(([code, value], at) => instruction(code, value, tests.length - at, 0));
  return Buffer.concat([load, ...jumps, instruction(RETURN, ALLOW), instruction(RETURN, TRACE)]);
}

function instruction(code: number, value: number, ifSo = 0, ifNot = 0): Buffer {
  const made = Buffer.alloc(8);
  made.writeUInt16LE(code, 0);
  made.writeUInt8(ifSo, 2);
  made.writeUInt8(ifNot, 3);
  made.writeUInt32LE(value, 4);
  return made;
}
