/**
 * Numbers that a check compares with and that may have been fitted to the rows: `minutes > 30`, `BETWEEN 18 AND 65`. A count
 * shows such a bound only as far as others count otherwise. Bands within which figures count as equal are no bounds, and
 * neither are 0, 1 and bounds of a count.
 */
import type { Dialect } from '../domain';
import type { Fitted } from './fitted';
import { tokensOf } from './lexer';
import { bare, childrenOf, hasAggregate, nameOf, operatorOf, readQuery, readsRows, type Node } from './tree';

/** Each once, with values on both sides, nearest first. */
export function thresholdsIn(sql: string, dialect: Dialect): readonly Fitted[] {
  const query = readQuery(sql, dialect);
  const bounds = query === null ? [] : boundsIn(query);
  return [...new Set(bounds)].map((literal) => ({ literal, neighbours: neighboursOf(literal) }));
}

/** Whether the number stands in the SQL as such a bound and as nothing else, so that it may be moved there. */
export function isOnlyThreshold(sql: string, literal: string, dialect: Dialect): boolean {
  const query = readQuery(sql, dialect);
  const bounds = query === null ? [] : boundsIn(query).filter((bound) => bound === literal);
  const places = tokensOf(sql, dialect).filter(({ kind, raw }) => kind === 'number' && raw === literal);
  return bounds.length > 0 && bounds.length === places.length;
}

/** Numbers of what a difference may be at most, as in `abs(a - b) < 0.15 * b`: how closely figures agree is fitted to nothing. */
export function bandNumbersIn(sql: string, dialect: Dialect): ReadonlySet<string> {
  const query = readQuery(sql, dialect);
  return new Set(query === null ? [] : bandNumbers(query));
}

function bandNumbers(node: Node): string[] {
  const sides =
    node.type === 'binary_expr' && /^[<>]=?$/.test(operatorOf(node)) ? [node.left, node.right].map(bare) : [];
  const isBand = sides.some((side) => nameOf(side) === 'abs');
  const own = isBand ? sides.filter((side) => nameOf(side) !== 'abs').flatMap(numbersIn) : [];
  return [...own, ...childrenOf(node).flatMap(bandNumbers)];
}

function numbersIn(node: Node): string[] {
  return node.type === 'number_literal' ? [node.text] : childrenOf(node).flatMap(numbersIn);
}

function boundsIn(node: Node): string[] {
  const within = childrenOf(node).flatMap(boundsIn);
  const isBound = node.type === 'between_expr' || (node.type === 'binary_expr' && /^[<>]=?$/.test(operatorOf(node)));
  const sides = isBound ? childrenOf(node).map(bare) : [];
  const isMeasured = sides.some((side) => readsRows(side) && !hasAggregate(side) && nameOf(side) !== 'abs');
  if (!isMeasured) return within;
  const own = sides.flatMap((side) => (side.type === 'number_literal' && isFitted(side.text) ? [side.text] : []));
  return [...own, ...within];
}

function isFitted(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text) && Number(text) !== 0 && Number(text) !== 1;
}

const FURTHER = [0.9, 1.1, 0.5, 1.5];

function neighboursOf(text: string): string[] {
  const value = Number(text);
  const places = text.split('.')[1]?.length ?? 0;
  const unit = 10 ** -places;
  const isYear = /^(?:19|20)\d\d$/.test(text);
  const moved = [value - unit, value + unit, ...(isYear ? [] : FURTHER).map((by) => value * by)];
  const others = moved.filter((each) => each > 0).map((each) => each.toFixed(places));
  return [...new Set(others)].filter((each) => Number(each) !== value && Number(each) > 0);
}
