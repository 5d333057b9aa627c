/**
 * Writes the types of the library as one file that leans on no package: what `src/library/index.ts` exports, and all that this
 * mentions. Interfaces, classes and plain types are copied with their comments. A type that is inferred from a zod schema is
 * written as what it comes to, with the comments or descriptions of the schema.
 */
const { join, relative, sep } = require('node:path');
const prettier = require('prettier');
const ts = require('typescript');

const root = join(__dirname, '..');
const sources = join(root, 'src') + sep;
/** Of Node's own types, as browsers have them too. */
const GLOBALS = ['AbortSignal'];

async function libraryTypes(entry = join(sources, 'library', 'index.ts')) {
  const { options } = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.json'), {}, ts.sys);
  const host = ts.createCompilerHost(options);
  const resolve = (name, from) => ts.resolveModuleName(name, from, options, host);
  // Other packages are not read, which takes longest: the types may lean on none.
  host.resolveModuleNameLiterals = (names, from) =>
    names.map(({ text }) => (/^(\.|zod$)/.test(text) ? resolve(text, from) : { resolvedModule: undefined }));
  const program = ts.createProgram([entry], { ...options, types: ['node'] }, host);
  const text = new Bundle(program, entry).write();
  return prettier.format(text, { ...(await prettier.resolveConfig(entry)), parser: 'typescript' });
}

class Bundle {
  constructor(program, entry) {
    this.program = program;
    this.checker = program.getTypeChecker();
    /** By the symbol of each declaration. */
    this.names = new Map();
    this.waiting = [];
    const module = this.checker.getSymbolAtLocation(program.getSourceFile(entry));
    for (const symbol of this.checker.getExportsOfModule(module)) this.nameOf(this.resolved(symbol));
    /** Types of schemas by the alias that names them. */
    this.aliases = new Map(
      program
        .getSourceFiles()
        .filter(isOurs)
        .flatMap(({ statements }) => statements.filter(ts.isTypeAliasDeclaration))
        .filter(({ typeParameters, type }) => typeParameters === undefined && this.needsChecker(type))
        .map(({ name }) => this.checker.getSymbolAtLocation(name))
        .map((symbol) => [this.checker.getDeclaredTypeOfSymbol(symbol), symbol])
        .filter(([{ flags }]) => flags & ts.TypeFlags.Object),
    );
  }

  write() {
    const texts = [];
    for (let symbol = this.waiting.shift(); symbol !== undefined; symbol = this.waiting.shift())
      texts.push(this.declaration(symbol));
    return texts.join('\n\n');
  }

  /** The name that a declaration has in the file. Two of one name: the later one has that of its folder before it. */
  nameOf(symbol) {
    const known = this.names.get(symbol);
    if (known !== undefined) return known;
    const { fileName } = declarationOf(symbol).getSourceFile();
    const [folder] = relative(sources, fileName).split(sep).slice(-2);
    const taken = new Set(this.names.values());
    const longer = folder[0].toUpperCase() + folder.slice(1) + symbol.name;
    const name = taken.has(symbol.name) ? longer : symbol.name;
    if (taken.has(name)) throw new Error(`the types of the library have two ${name}: rename one`);
    this.names.set(symbol, name);
    this.waiting.push(symbol);
    return name;
  }

  resolved(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  declaration(symbol) {
    const node = declarationOf(symbol);
    const name = this.names.get(symbol);
    const docs = commentsOf(node);
    if (ts.isTypeAliasDeclaration(node)) {
      const type = this.needsChecker(node.type)
        ? this.structure(this.checker.getDeclaredTypeOfSymbol(symbol), symbol)
        : this.copied(node.type);
      return `${docs}export type ${name}${this.parameters(node)} = ${type};`;
    }
    const heritage = (node.heritageClauses ?? [])
      .filter(({ token }) => ts.isInterfaceDeclaration(node) || token === ts.SyntaxKind.ExtendsKeyword)
      .map((clause) => this.copied(clause))
      .join(' ');
    const head = `${name}${this.parameters(node)} ${heritage}`;
    if (ts.isInterfaceDeclaration(node))
      return `${docs}export interface ${head} {\n${node.members.map((one) => commentsOf(one) + this.copied(one)).join('\n')}\n}`;
    return `${docs}export declare class ${head} {\n${node.members.flatMap((one) => this.member(one)).join('\n')}\n}`;
  }

  parameters({ typeParameters = [] }) {
    return typeParameters.length === 0 ? '' : `<${typeParameters.map((one) => this.copied(one)).join(', ')}>`;
  }

  /** Of a class: what others may use. */
  member(node) {
    const isHidden =
      ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected) ||
      (node.name !== undefined && ts.isPrivateIdentifier(node.name));
    if (ts.isConstructorDeclaration(node)) {
      if (isHidden || ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal'))
        return ['private constructor();'];
      const fields = node.parameters.filter((one) => ts.isParameterPropertyDeclaration(one, node));
      return [
        ...fields.map((one) => `readonly ${one.name.text}: ${this.copied(one.type)};`),
        `constructor(${this.given(node)});`,
      ];
    }
    if (isHidden) return [];
    const isStatic = ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Static ? 'static ' : '';
    const { text } = node.name;
    if (ts.isMethodDeclaration(node))
      return [`${commentsOf(node)}${isStatic}${text}(${this.given(node)}): ${this.copied(node.type)};`];
    const type = node.type ? this.copied(node.type) : this.structure(this.checker.getTypeAtLocation(node));
    return [`${commentsOf(node)}${isStatic}readonly ${text}: ${type};`];
  }

  given({ parameters }) {
    return parameters
      .map(({ name, type, initializer, questionToken }) => {
        const shown = ts.isIdentifier(name) ? name.text : 'options';
        return `${shown}${initializer || questionToken ? '?' : ''}: ${this.copied(type)}`;
      })
      .join(', ');
  }

  /** Mentions a value or a schema, so that its text says nothing by itself. */
  needsChecker(node) {
    if (ts.isTypeQueryNode(node) || ts.isImportTypeNode(node)) return true;
    if (ts.isQualifiedName(node) && node.left.getText() === 'z') return true;
    return ts.forEachChild(node, (child) => this.needsChecker(child) || undefined) === true;
  }

  /** The text of a node, with each name as the file has it. */
  copied(node) {
    const changes = [];
    const visit = (one) => {
      if (ts.isTypeReferenceNode(one)) changes.push([one.typeName, this.nameAt(one.typeName)]);
      if (ts.isExpressionWithTypeArguments(one)) changes.push([one.expression, this.nameAt(one.expression)]);
      const isOfValue = ts.isTypeQueryNode(one) || ts.isImportTypeNode(one) || ts.isIndexedAccessTypeNode(one);
      if (isOfValue && this.needsChecker(one)) {
        changes.push([one, this.structure(this.checker.getTypeFromTypeNode(one))]);
        return;
      }
      ts.forEachChild(one, visit);
    };
    visit(node);
    const begin = node.getStart();
    let text = node.getText();
    for (const [place, name] of changes.sort(([a], [b]) => b.getStart() - a.getStart()))
      text = text.slice(0, place.getStart() - begin) + name + text.slice(place.getEnd() - begin);
    return text;
  }

  nameAt(place) {
    const symbol = this.resolved(this.checker.getSymbolAtLocation(place));
    if (symbol.declarations === undefined) throw new Error(`the types of the library lean on ${place.getText()}`);
    if (symbol.flags & ts.SymbolFlags.TypeParameter) return place.getText();
    return this.foreign(symbol) ?? this.nameOf(symbol);
  }

  /** The name of what every project has; null: it is ours. */
  foreign(symbol) {
    const files = symbol.declarations.map((one) => one.getSourceFile());
    if (files.some((file) => this.program.isSourceFileDefaultLibrary(file)) || GLOBALS.includes(symbol.name))
      return symbol.name;
    if (files.every(isOurs)) return null;
    throw new Error(`the types of the library lean on ${symbol.name} of ${relative(root, files[0].fileName)}`);
  }

  /** What a type comes to. `top`: its own declaration, which it would otherwise name. */
  structure(type, top = null, isOptional = false) {
    const { checker } = this;
    const alias = this.aliases?.get(type) ?? type.aliasSymbol;
    const own = declaredTypeSymbol(alias) ?? declaredTypeSymbol(type.symbol);
    if (own !== null && own !== top && !type.aliasTypeArguments?.length && isOurs(declarationOf(own).getSourceFile()))
      return this.nameOf(own);
    if (type.isUnion()) {
      const given = type.types.filter(({ flags }) => !(isOptional && flags & ts.TypeFlags.Undefined));
      const parts = given.map((one) => this.structure(one));
      const both = parts.includes('true') && parts.includes('false');
      const shown = both ? ['boolean', ...parts.filter((one) => one !== 'true' && one !== 'false')] : parts;
      return [...new Set(shown)].map((one) => (one.includes('=>') ? `(${one})` : one)).join(' | ');
    }
    if (type.isIntersection()) return type.types.map((one) => `(${this.structure(one)})`).join(' & ');
    if (!(type.flags & ts.TypeFlags.Object)) return checker.typeToString(type);
    const args = checker.isArrayType(type) || checker.isTupleType(type) ? checker.getTypeArguments(type) : [];
    if (checker.isTupleType(type)) return `readonly [${args.map((one) => this.structure(one)).join(', ')}]`;
    if (checker.isArrayType(type)) return `readonly (${this.structure(args[0])})[]`;
    if (type.getCallSignatures().length > 0) throw new Error(`${checker.typeToString(type)}: name it`);
    if (type.symbol?.declarations?.some((one) => ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one)))
      return this.foreign(type.symbol);
    const fields = type.getProperties().map((one) => this.field(one));
    const indexes = checker
      .getIndexInfosOfType(type)
      .map(({ keyType, type: value }) => `readonly [key: ${checker.typeToString(keyType)}]: ${this.structure(value)};`);
    return `{\n${[...fields, ...indexes].join('\n')}\n}`;
  }

  field(symbol) {
    const { checker } = this;
    const isOptional = Boolean(symbol.flags & ts.SymbolFlags.Optional);
    const type = checker.getTypeOfSymbol(symbol);
    const said = ts.displayPartsToString(symbol.getDocumentationComment(checker)) || describedAs(symbol);
    const docs = said === '' ? '' : `/** ${said.replaceAll('*/', '* /')} */\n`;
    const key = /^[A-Za-z_$][\w$]*$/.test(symbol.name) ? symbol.name : JSON.stringify(symbol.name);
    return `${docs}readonly ${key}${isOptional ? '?' : ''}: ${this.structure(type, null, isOptional)};`;
  }
}

const isOurs = ({ fileName }) => fileName.startsWith(sources);

/** Beside a schema of its name. */
function declarationOf(symbol) {
  const isType = (one) =>
    ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one) || ts.isTypeAliasDeclaration(one);
  return symbol.declarations.find(isType);
}

function declaredTypeSymbol(symbol) {
  return symbol?.declarations !== undefined && declarationOf(symbol) !== undefined ? symbol : null;
}

function commentsOf(node) {
  const texts = (node.jsDoc ?? []).map((one) => one.getText());
  return texts.length === 0 ? '' : `${texts.join('\n')}\n`;
}

/** `z.number().describe('…')` */
function describedAs({ valueDeclaration, declarations = [] }) {
  const { initializer } = valueDeclaration ?? declarations[0] ?? {};
  if (initializer === undefined || !ts.isCallExpression(initializer)) return '';
  const {
    expression,
    arguments: [text],
  } = initializer;
  const isDescribed = ts.isPropertyAccessExpression(expression) && expression.name.text === 'describe';
  return isDescribed && ts.isStringLiteralLike(text) ? text.text : '';
}

module.exports = { libraryTypes };

if (require.main === module) libraryTypes().then((text) => process.stdout.write(text));
