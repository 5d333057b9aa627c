/** A real parser of one dialect: what a statement is and what it reads (rule S8, and the second read-only fence). */
export type Inspection =
  | {
      readonly kind: 'select';
      /** Relations read from outside the statement: CTE names are left out. Lower case unless quoted; `schema.table`. */
      readonly relations: readonly string[];
      /** Names of the statement's own CTEs. */
      readonly ctes: readonly string[];
      /** The text starts with its own WITH clause. */
      readonly hasWith: boolean;
    }
  /** Not one SELECT, or a forbidden construct; the message says which and what to write instead. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'syntax-error'; readonly message: string };

export interface SqlInspector {
  inspect(sql: string): Inspection;
}
