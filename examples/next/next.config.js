export default {
  // Escapement reads files beside its own code, and starts threads from there: it is not to be bundled.
  serverExternalPackages: ['escapement'],
}
