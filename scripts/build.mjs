// Makes what the package ships: the code, and the dashboard.
import './build-code.mjs'
import './build-dashboard.mjs'
