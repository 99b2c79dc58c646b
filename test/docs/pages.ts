import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** What is written for readers, by its path from the root. */
export interface Page {
  path: string
  text: string
}

export interface Block {
  language: string
  code: string
  /** Lines of the page that stand before its code. */
  linesBefore: number
}

export function readPages(...folders: string[]): Page[] {
  const paths = folders.flatMap((folder) => (folder.endsWith('.md') ? [folder] : pagesIn(folder)))
  return paths.map((each) => ({ path: each, text: fs.readFileSync(path.join(root, each), 'utf8') }))
}

function pagesIn(folder: string): string[] {
  const files = fs.readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => path.posix.join(folder, file.replaceAll(path.sep, '/')))
    .sort()
}

export function blocksOf({ text }: Page): Block[] {
  return [...text.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1]!,
    code: match[2]!,
    linesBefore: text.slice(0, match.index).split('\n').length,
  }))
}

/** The page without its blocks, each line where it was. */
export function proseOf({ text }: Page): string {
  return text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ''))
}
