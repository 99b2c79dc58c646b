import { opened } from '../../../../escapement.js'

async function answer(request) {
  const { handler } = await opened()
  return handler(request)
}

export { answer as DELETE, answer as GET, answer as HEAD, answer as PATCH, answer as POST, answer as PUT }
