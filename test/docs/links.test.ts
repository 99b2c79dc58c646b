import fs from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { type Page, proseOf, readPages, root } from './pages.js'

const pages = readPages('README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs', 'examples', 'deploy')

it('links between pages lead somewhere, anchors included', () => {
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page.path}: ${link}`),
  )
  expect(dead).toEqual([])
})

it.each(['docs/guide', 'docs/reference'])('every page of %s is listed in its contents', (folder) => {
  const contents = pages.find(({ path }) => path === `${folder}/README.md`)!
  const listed = linksOf(contents)
  const missing = pages
    .filter((page) => path.dirname(page.path) === folder && page !== contents)
    .map((page) => path.basename(page.path))
    .filter((name) => !listed.includes(name))
  expect(missing).toEqual([])
})

function linksOf(page: Page): string[] {
  const text = proseOf(page).replace(/`[^`\n]*`/g, 'code')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^(https?|mailto):/.test(link))
}

function leadsSomewhere(page: Page, link: string): boolean {
  const [file, anchor] = link.split('#') as [string, string?]
  const target = file ? path.posix.join(path.posix.dirname(page.path), decodeURI(file)) : page.path
  if (!fs.existsSync(path.join(root, target))) return false
  return anchor === undefined || anchorsOf(target).has(anchor)
}

/** As GitHub makes them of headings. */
function anchorsOf(target: string): Set<string> {
  const [page] = readPages(target)
  const anchors = new Set<string>()
  for (const [, heading] of proseOf(page!).matchAll(/^#+ (.+)$/gm)) {
    const slug = heading!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}
