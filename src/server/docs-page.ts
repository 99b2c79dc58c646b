/** The API for people: one page of plain HTML, made from the OpenAPI document. It needs no script, and nothing from elsewhere. */
import type { OpenApiDocument, OpenApiOperation } from './openapi.js'

export function docsPage(document: OpenApiDocument): string {
  const sections = document.tags.map(({ name }) => sectionOf(name, document)).join('')
  const schemas = Object.entries(document.components.schemas)
    .map(
      ([name, schema]) =>
        `<details><summary><code>${escaped(name)}</code></summary><div id="schema-${escaped(name)}">${codeOf(schema)}</div></details>`,
    )
    .join('')
  const contents = document.tags
    .map(({ name }) => `<li><a href="#${escaped(name)}">${escaped(name)}</a></li>`)
    .join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(document.info.title)} API</title>
<link rel="stylesheet" href="docs.css">
</head>
<body>
<header>
<h1>${escaped(document.info.title)} API <small>${escaped(document.info.version)}</small></h1>
<p>${inline(document.info.description)}</p>
<p>For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). Send a token as <code>Authorization: Bearer esc_…</code>;
make one with <code>escapement tokens create</code>.</p>
<nav aria-label="Contents"><ul>${contents}<li><a href="#schemas">Schemas</a></li></ul></nav>
</header>
<main>
${sections}
<section id="schemas"><h2>Schemas</h2>${schemas}</section>
</main>
</body>
</html>
`
}

function sectionOf(tag: string, document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => operationOf(method, path, operation)),
  )
  return `<section id="${escaped(tag)}"><h2>${escaped(tag)}</h2>${operations.join('')}</section>`
}

function operationOf(method: string, path: string, operation: OpenApiOperation): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const rows = parameters
    .map(
      ({ name, in: place, required, description: text, schema }) =>
        `<tr><td><code>${escaped(String(name))}</code></td><td>${escaped(String(place))}</td><td>${required ? 'required' : ''}</td><td>${inline(String(text ?? ''))} ${typeOf(schema as Schema)}</td></tr>`,
    )
    .join('')
  const answers = Object.entries(responses)
    .map(
      ([status, response]) =>
        `<tr><td><code>${status}</code></td><td>${inline(String(response.description))} ${typeOf(answerOf(response))}</td></tr>`,
    )
    .join('')
  return `<details class="operation" id="${escaped(operationId)}">
<summary><span class="method ${method}">${method.toUpperCase()}</span> <code>${escaped(path)}</code> <span>${inline(summary)}</span> <em>${escaped(operation['x-role'])}</em></summary>
${description === undefined ? '' : `<p>${inline(description)}</p>`}
${rows === '' ? '' : `<h3>Parameters</h3><table><tbody>${rows}</tbody></table>`}
${requestBody ? `<h3>Body${requestBody.required ? '' : ' (may be left out)'}</h3>${typeOf(requestBody.content['application/json']!.schema)}` : ''}
<h3>Answers</h3><table><tbody>${answers}</tbody></table>
</details>
`
}

type Schema = Record<string, unknown> | undefined

function answerOf(response: Record<string, unknown>): Schema {
  const content = response.content as Record<string, { schema?: Schema }> | undefined
  return Object.values(content ?? {})[0]?.schema
}

/** A link where it has a name, a word where it is simple, else the schema itself. */
function typeOf(schema: Schema): string {
  if (schema === undefined) return ''
  if (typeof schema.$ref === 'string') {
    const name = escaped(schema.$ref.split('/').at(-1)!)
    return `<a href="#schema-${name}"><code>${name}</code></a>`
  }
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((word) => `<code>${escaped(String(word))}</code>`).join(' ')
  }
  if (schema.type === 'object' || schema.type === 'array') return codeOf(schema)
  return typeof schema.type === 'string' ? `<code>${escaped(schema.type)}</code>` : ''
}

function codeOf(schema: unknown): string {
  return `<pre><code>${escaped(JSON.stringify(schema, null, 2))}</code></pre>`
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Text with `code` in it. */
function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

export const DOCS_STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { background: var(--soft); border-radius: 6px; max-height: 24rem; overflow: auto; overflow-wrap: anywhere; padding: 0.75rem; white-space: pre-wrap; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; list-style: none; padding: 0; }
details { border-bottom: 1px solid var(--line); padding: 0.4rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary em { float: right; font-size: 0.85em; opacity: 0.7; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); overflow-wrap: break-word; padding: 0.3rem 0.6rem 0.3rem 0; vertical-align: top; }
td:last-child { overflow-wrap: anywhere; }
h3 { font-size: 1em; margin: 0.8rem 0 0.2rem; }
.method { border-radius: 4px; color: #fff; display: inline-block; font-size: 0.75em; font-weight: 700; min-width: 4em; text-align: center; }
.get { background: #2563a8; } .post { background: #237a3f; } .put { background: #8a5a00; } .patch { background: #7a4fb0; } .delete { background: #b3261e; }
`
