/*
 * report_style.c
 *	  How the page of sliced.report() looks: by day and by night, on paper and on a
 *	  phone.
 */
#include "postgres.h"

#include "advise/report.h"

const char *const sliced_report_style =
":root { color-scheme: light dark; --ground: #fff; --text: #1c2430; --faint: #5d6b7c; --line: #dde3ea; --soft: #f3f6f9;\n"
"  --rows: #7f93ab; --outside: #2f6db3; --indexes: #c3ccd6; --now: #b9812c; --then: #2a8f6b;\n"
"  --new: #7f93ab; --appended: #2a8f6b; --changed: #57b894; --unchanged: #c3ccd6; --anew: #c4573f }\n"
"@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --text: #e3e8ee; --faint: #98a5b3; --line: #2d353e;\n"
"  --soft: #1c2229; --rows: #71859c; --outside: #5b9be0; --indexes: #465462; --now: #d9a04a; --then: #45b58b;\n"
"  --new: #71859c; --appended: #45b58b; --changed: #2f7d60; --unchanged: #465462; --anew: #e07a61 } }\n"
"* { box-sizing: border-box }\n"
"body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--ground); color: var(--text);\n"
"  font: 16px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; print-color-adjust: exact; -webkit-print-color-adjust: exact }\n"
"h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0 }\n"
"h2 { font-size: 1.2rem; margin: 2.2rem 0 .3rem; border-top: 1px solid var(--line); padding-top: 1.1rem }\n"
"h3 { font-size: 1rem; margin: 0 }\n"
"p { margin: .4rem 0 } .note { color: var(--faint); font-size: .88rem }\n"
"section { margin: 1.1rem 0 }\n"
".figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .7rem; margin: 1rem 0 }\n"
".figures div { background: var(--soft); border-radius: .5rem; padding: .7rem .9rem }\n"
".figures b { display: block; font-size: 1.5rem; line-height: 1.2 } .figures span { color: var(--faint); font-size: .85rem }\n"
".bar { display: flex; height: .9rem; background: var(--soft); border-radius: .2rem; overflow: hidden }\n"
".bar i { display: block; flex: none; min-width: 1px }\n"
".line { display: grid; grid-template-columns: 12rem 1fr 14rem; gap: .7rem; align-items: center; font-size: .9rem; margin: .2rem 0 }\n"
".line b { font-weight: normal; font-variant-numeric: tabular-nums } .line.present span { font-weight: bold }\n"
".line.present span::after { content: \" \\2190\" }\n"
".advice { border-left: 4px solid var(--then); padding: .1rem 0 .1rem .8rem; margin: .7rem 0 }\n"
".advice.leave { border-color: var(--line) }\n"
".topic { background: var(--soft); border-radius: .3rem; padding: .1rem .4rem; font-size: .85rem; color: var(--faint) }\n"
"pre { background: var(--soft); border-radius: .3rem; padding: .5rem .7rem; margin: .4rem 0; font-size: .82rem; white-space: pre-wrap }\n"
".wide { overflow-x: auto } table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; width: 100% }\n"
"td, th { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; overflow-wrap: normal }\n"
"tr:first-child td, tr:first-child th { color: var(--faint); font-weight: normal; white-space: normal }\n"
"th, td:nth-child(2) { text-align: left } th { padding-left: 0 } .chart { min-width: 8rem; width: 30% }\n"
".legend { font-size: .85rem; color: var(--faint) } .legend span { margin-right: 1rem; white-space: nowrap }\n"
".legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .35rem; vertical-align: -.08rem }\n"
".rows { background: var(--rows) } .outside { background: var(--outside) } .indexes { background: var(--indexes) }\n"
".now { background: var(--now) } .then { background: var(--then) } .new { background: var(--new) }\n"
".appended { background: var(--appended) } .changed { background: var(--changed) }\n"
".unchanged { background: var(--unchanged) } .anew { background: var(--anew) }\n"
"@media (max-width: 40rem) { .line { grid-template-columns: 1fr auto; gap: .1rem .7rem; margin: .5rem 0 }\n"
"  .line .bar { grid-column: 1 / 3; grid-row: 2 } .line b { text-align: right } }\n"
"@media print { section, .line { break-inside: avoid } }\n";
