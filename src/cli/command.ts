/** How the command line ended: 0 done, 1 failed, 2 called wrongly. */
export type ExitCode = 0 | 1 | 2;

/** What every command that answers is told. */
export interface AnswerOptions {
  readonly json?: boolean;
}
