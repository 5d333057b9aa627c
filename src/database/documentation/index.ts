/** From files of documentation to texts and to notes on tables and columns. */
export { notesOfCsv, parseCsv } from './csv';
export { describesTables, notesOfDbt } from './dbt';
export { DocumentationError } from './error';
export { isColumnMeanings, isKnowledgeBase, notesOfColumnMeanings, textOfKnowledgeBase } from './livesqlbench';
