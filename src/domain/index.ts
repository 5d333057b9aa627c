export * from './question';
export * from './plan';
export * from './sql';
export * from './evidence';
export * from './state';
export * from './answer';
export * from './layer';
export * from './steering';
