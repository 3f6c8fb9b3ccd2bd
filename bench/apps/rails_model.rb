# A model of Active Record with a jsonb and a text column: saves, and SQL in update_all.
#
# bench/apps/app.py has what it answers.
#
# needs apt: ruby-activerecord ruby-pg

require "active_record"
require "digest"
require "json"

ROWS = 100
CHANGES = 600

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", database: ENV["PGDATABASE"], host: ENV["PGHOST"], username: ENV["PGUSER"]
)

class Document < ActiveRecord::Base
end

def words(random, count)
  Array.new(count) { (random.rand**3 * 5000).to_i.to_s(36) + "on" }.join(" ")
end

def item(random)
  { id: random.rand(1_000_000), state: %w[open closed draft].sample(random: random),
    url: "https://www.example.org/items/#{random.rand(100_000)}",
    author: { id: random.rand(1000), type: "User" }, title: words(random, 6), body: words(random, 60) }
end

def make
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table :documents do |t|
      t.jsonb :doc, null: false
      t.text :body
      t.timestamps
    end
  end
  (1..ROWS).each do |i|
    random = Random.new(i)
    items = Array.new((5 * 20**random.rand).to_i) { item(random) }
    Document.create!(id: i, doc: { views: 0, items: items }, body: words(random, items.size * 50))
  end
end

def hot(change)
  1 + (ROWS * Random.new(change).rand**3).to_i
end

KINDS = {
  "save!" => lambda do |i|
    row = Document.find(hot(i))
    row.doc["views"] += 1
    row.doc["items"][i % row.doc["items"].size]["state"] = "seen #{i}"
    row.save!
  end,
  "update!(body)" => lambda do |i|
    row = Document.find(hot(i))
    row.update!(body: row.body + words(Random.new(i), 20))
  end,
  "update_all(jsonb_set)" => lambda do |i|
    Document.where(id: hot(i)).update_all(["doc = jsonb_set(doc, '{items,1,title}', to_jsonb(?::text))", "title #{i}"])
  end
}.freeze

about = { about: "a model of Active Record #{ActiveRecord.version}, #{ROWS} rows of jsonb and text",
          changes: CHANGES, kinds: KINDS.keys }
$stdin.each_line do |line|
  phase, kind, first, last = JSON.parse(line)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  digest = Digest::SHA256.new
  case phase
  when "make" then make
  when "change" then (first...last).each { |i| KINDS[kind].call(i) }
  else
    Document.order(:id).each { |row| digest << JSON.generate([row.id, row.doc, row.body]) }
    digest << JSON.generate(Document.order(:id).pluck(Arel.sql("doc->'items'->1->>'title'")))
  end
  ActiveRecord::Base.connection_pool.disconnect!
  about[:ms] = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1000
  puts JSON.generate(about.merge(digest: digest.hexdigest))
  $stdout.flush
end
