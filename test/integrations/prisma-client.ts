import { PrismaPg } from '@prisma/adapter-pg'
import { type GetPrismaClientConfig, getPrismaClient } from '@prisma/client/runtime/client'

// The types of Node 20 do not name it.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (bytes: Buffer) => object }
}

const COMPILER = '@prisma/client/runtime/query_compiler_fast_bg.postgresql'

/**
 * Prisma's client without its engine, as `prisma generate` writes it for a schema without models. The generator itself
 * is not run: its command fetches a program from outside npm before it generates anything.
 */
const config: GetPrismaClientConfig = {
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: '0edf323efd1d98336f3f0a68684b56f689b900d3',
  activeProvider: 'postgresql',
  inlineSchema: 'datasource db { provider = "postgresql" }',
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  // A graph of no nodes: three counts of zero.
  parameterizationSchema: { strings: [], graph: 'AAAA' },
  compilerWasm: {
    getRuntime: () => import(`${COMPILER}.mjs`),
    async getQueryCompilerWasmModule() {
      const { wasm } = await import(`${COMPILER}.wasm-base64.mjs`)
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
    },
    importName: './query_compiler_fast_bg.js',
  },
}

export function openPrisma(
  connectionString: string,
  models: GetPrismaClientConfig['runtimeDataModel']['models'] = {},
) {
  const runtimeDataModel = { models, enums: {}, types: {} }
  const PrismaClient = getPrismaClient({ ...config, runtimeDataModel })
  return new PrismaClient({ adapter: new PrismaPg({ connectionString }) })
}
