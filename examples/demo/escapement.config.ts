import { defineConfig, defineJob, every } from 'escapement'

/** What `npm start` runs: two schedules, and a job that greets. */
const greet = defineJob('greet', {
  handler: ({ input, planTime }) => `Hello from ${planTime?.toISOString()}, ${input}`,
})

export default defineConfig({
  jobs: [greet],
  schedules: {
    'demo:every-5-seconds': { job: greet, input: 'you', timing: every('5 seconds') },
    'demo:every-minute': { job: greet, input: 'world', timing: every('1 minute') },
  },
})
