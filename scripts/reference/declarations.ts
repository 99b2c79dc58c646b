/**
 * What the public types say of themselves, as the compiler reads it: their fields with those that they inherit, their comments
 * and their `@default`. The compiler does not promise that its interface for programs stays as it is; its version is pinned.
 */
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type FunctionTypeNode,
  isFunctionTypeNode,
  isInterfaceDeclaration,
  isMethodSignatureDeclaration,
  isTypeAliasDeclaration,
  isTypeParameterDeclaration,
  isTypeReferenceNode,
  isUnionTypeNode,
  type MethodSignatureDeclaration,
  type Node,
  type PropertySignatureDeclaration,
  type SourceFile,
  type TypeAliasDeclaration,
  type TypeNode,
} from 'typescript/unstable/ast'
import {
  API,
  type Checker,
  type Symbol as Declared,
  type Program,
  SymbolFlags,
} from 'typescript/unstable/sync'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Names that the page on options explains. */
const KEPT = ['DatabaseOption', 'DurationInput', 'InstantInput', 'Timing']

export interface Field {
  name: string
  /** The interface that declares it. */
  of: string
  isOptional: boolean
  /** As it is written, functions without the types of what they take. */
  type: string
  default: string | null
  text: string
}

export class Declarations {
  readonly #api = new API({ cwd: root })
  readonly #program: Program
  readonly #checker: Checker

  constructor() {
    const config = path.join(root, 'tsconfig.build.json')
    const project = this.#api.updateSnapshot({ openProjects: [config] }).getProject(config)!
    this.#program = project.program
    this.#checker = project.checker
  }

  /** Ends the compiler's process. */
  close(): void {
    this.#api.close()
  }

  /** The comment of what a module exports: a paragraph, and a list if it has one. */
  textOf(file: string, name: string): string {
    const [paragraph, ...items] = this.#commentOf(this.#exported(file, name)).split(/\n(?=- )/)
    return [oneLine(paragraph!), ...(items.length > 0 ? [items.map(oneLine).join('\n')] : [])].join('\n\n')
  }

  /** The fields of an interface: its own as they are written, then those that it inherits. */
  fieldsOf(file: string, name: string): Field[] {
    const symbol = this.#exported(file, name)
    const [own] = symbol.declarations.map((handle) => handle.resolve()!)
    const properties = this.#checker.getPropertiesOfType(this.#checker.getDeclaredTypeOfSymbol(symbol))
    return (
      properties
        .map((property) => ({ property, node: property.declarations[0]!.resolve()! }))
        // By name where two stand at the same place of two files: the compiler gives them in any order.
        .sort(
          (a, b) =>
            placeOf(a.node, own!) - placeOf(b.node, own!) || (a.property.name < b.property.name ? -1 : 1),
        )
        .map(({ property, node }) => this.#field(property, node))
    )
  }

  /** The members of a union of texts, with the comment before each. */
  membersOf(file: string, name: string): { member: string; text: string }[] {
    const source = this.#source(file)
    const declared = source.statements.find(
      (node): node is TypeAliasDeclaration => isTypeAliasDeclaration(node) && node.name.text === name,
    )
    if (!declared || !isUnionTypeNode(declared.type)) throw new Error(`${file} has no union ${name}.`)
    let end = declared.type.pos
    return declared.type.types.map((type) => {
      const before = source.text.slice(end, type.getStart(source))
      end = type.end
      const [, comment = ''] = /\/\*\*([\s\S]*?)\*\//.exec(before) ?? []
      return { member: type.getText(source).slice(1, -1), text: comment.replace(/\n\s*\*/g, ' ').trim() }
    })
  }

  /** The names that a module exports. */
  exportsOf(file: string): string[] {
    const module = this.#checker.getSymbolAtLocation(this.#source(file))!
    return this.#checker.getExportsOfModule(module).map(({ name }) => name)
  }

  #source(file: string): SourceFile {
    const source = this.#program.getSourceFile(path.join(root, file))
    if (!source) throw new Error(`There is no ${file}.`)
    return source
  }

  #exported(file: string, name: string): Declared {
    const module = this.#checker.getSymbolAtLocation(this.#source(file))!
    const found = this.#checker.getExportsOfModule(module).find((each) => each.name === name)
    if (!found) throw new Error(`${file} exports no ${name}.`)
    return this.#unaliased(found)
  }

  #unaliased(symbol: Declared): Declared {
    return symbol.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  #field(property: Declared, node: Node): Field {
    const tags = this.#checker.getJsDocTagsOfSymbol(property)
    return {
      name: property.name,
      of: isInterfaceDeclaration(node.parent) ? node.parent.name.text : '',
      isOptional: (property.flags & SymbolFlags.Optional) !== 0,
      type: isMethodSignatureDeclaration(node)
        ? callOf(node)
        : this.#typeText((node as PropertySignatureDeclaration).type!),
      default: tags.find((tag) => tag.name === 'default')?.text ?? null,
      text: oneLine(this.#commentOf(property)),
    }
  }

  /** Other names of types are given as what they stand for. */
  #typeText(type: TypeNode): string {
    if (isFunctionTypeNode(type)) return callOf(type)
    if (isUnionTypeNode(type)) {
      const [one, ...others] = type.types.filter((each) => each.getText() !== 'undefined')
      if (others.length === 0) return this.#typeText(one!)
    }
    if (!isTypeReferenceNode(type) || type.typeArguments) return typeLine(type)
    const symbol = this.#checker.getSymbolAtLocation(type.typeName)
    const [declared] = symbol ? this.#unaliased(symbol).declarations : []
    const node = declared?.resolve()
    if (node && isTypeParameterDeclaration(node)) return typeLine(node.constraint)
    const isKept = !node || !isTypeAliasDeclaration(node) || KEPT.includes(type.getText())
    return isKept ? typeLine(type) : this.#typeText(node.type)
  }

  #commentOf(symbol: Declared): string {
    return this.#checker.getDocumentationCommentOfSymbol(symbol)
  }
}

/** What is written in the interface itself comes before what it inherits. */
function placeOf(node: Node, own: Node): number {
  const isOwn = node.getSourceFile() === own.getSourceFile() && node.pos >= own.pos && node.end <= own.end
  return isOwn ? node.pos : node.pos + 1e9
}

function callOf({ parameters, type }: FunctionTypeNode | MethodSignatureDeclaration): string {
  const names = parameters.map(({ name }) => name.getText())
  return `(${names.join(', ')}) => ${typeLine(type)}`
}

/** Without comments inside, and with a semicolon between fields that stand on lines of their own. */
function typeLine(node: Node | undefined): string {
  const text = node?.getText() ?? 'unknown'
  return oneLine(text.replace(/\/\*\*[\s\S]*?\*\//g, '').replace(/([\w'\]>)])\s*\n\s*(?=\w)/g, '$1; '))
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
