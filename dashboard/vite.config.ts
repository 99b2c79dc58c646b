import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  // Relative: the server says in the page where the files are, and under which prefix.
  base: './',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no inline script, and browsers that need this are too old for the rest.
    modulePreload: { polyfill: false },
    // Nothing inline: everything is a file of its own with a name that changes with its content.
    assetsInlineLimit: 0,
  },
  // For work on the dashboard: the API of a server that runs beside it.
  server: { proxy: { '/api': 'http://127.0.0.1:4680', '/docs': 'http://127.0.0.1:4680' } },
})
