/** What a parser of BigQuery's SQL says of a statement. */
import { cstVisitor, parse } from 'sql-parser-cst';

/** Throws where it cannot be read. The parser also reads a list of columns after a CTE's name, which BigQuery does not know. */
export function readAsBigQuery(sql: string): void {
  cstVisitor({
    common_table_expr: ({ columns }) => {
      if (columns !== undefined) throw new Error(`a CTE has a list of columns: ${sql}`);
    },
  })(parse(sql, { dialect: 'bigquery' }));
}
