/** The error that some work ends with; fails when it does not. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`something that is no error was thrown: ${String(error)}`, { cause: error });
  }
  throw new Error("it did not fail");
}
