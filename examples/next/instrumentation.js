/** Next.js calls it once, when the server starts. */
export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { startWork } = await import('./escapement.js')
    await startWork()
  }
}
