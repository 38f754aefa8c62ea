/** Whether something works here, found out by doing it. */
export interface Ability {
  readonly works: boolean;
  /** Why it does not work. */
  readonly reason?: string;
  /** What would make it work. */
  readonly hint?: string;
}
