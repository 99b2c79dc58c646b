/** Zones with something to trip over, and some plain ones. */
export const ZONES = [
  'UTC',
  'America/New_York',
  'America/Los_Angeles',
  'America/Chicago',
  'America/St_Johns', // 30 minutes; once changed at 00:01
  'America/Havana', // midnight gap
  'America/Sao_Paulo', // midnight gap until 2018
  'America/Asuncion', // midnight gap
  'America/Santiago', // midnight gap
  'America/Caracas', // moved by half an hour, twice
  'America/Scoresbysund',
  'America/Nuuk',
  'America/Argentina/Tucuman', // twelve days of another offset
  'Atlantic/Azores',
  'Europe/London',
  'Europe/Dublin', // negative DST
  'Europe/Paris',
  'Europe/Berlin',
  'Europe/Kyiv',
  'Europe/Istanbul',
  'Europe/Volgograd',
  'Africa/Casablanca', // negative DST, around Ramadan
  'Africa/El_Aaiun',
  'Africa/Cairo',
  'Africa/Windhoek', // negative DST until 2017
  'Africa/Monrovia', // an offset with seconds until 1972
  'Africa/Lagos',
  'Asia/Kolkata', // 30 minutes
  'Asia/Kathmandu', // 45 minutes
  'Asia/Tehran',
  'Asia/Gaza', // a week of another offset around Ramadan
  'Asia/Beirut', // midnight gap
  'Asia/Amman', // midnight gap until 2022
  'Asia/Pyongyang',
  'Asia/Tokyo',
  'Asia/Shanghai',
  'Australia/Sydney',
  'Australia/Adelaide',
  'Australia/Lord_Howe', // DST of 30 minutes
  'Australia/Eucla', // 45 minutes
  'Pacific/Auckland',
  'Pacific/Chatham', // 45 minutes with DST
  'Pacific/Apia', // skipped 30 December 2011
  'Pacific/Fakaofo', // skipped a day, no DST
  'Pacific/Kwajalein', // skipped 21 August 1993
  'Pacific/Norfolk',
  'Pacific/Easter',
  'Antarctica/Troll', // DST of two hours
  'Antarctica/Casey',
]
